// SPDX-License-Identifier: Apache-2.0
#include "transfer_result.hpp"

#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

std::optional<double> seconds_per_copy(const CopyPoint& point) {
  if (point.samples.empty()) {
    return std::nullopt;
  }
  return iteration_quartiles(point.samples).median;
}

const CopyPoint* timed_point(const CopyCurve& curve, std::int64_t bytes) {
  const auto found = std::ranges::find(curve.points, bytes, &CopyPoint::bytes);
  return found == curve.points.end() || found->samples.empty() ? nullptr : &*found;
}

const CopyCurve* find_curve(const std::vector<CopyCurve>& curves, std::string_view way,
                            std::string_view direction, int threads) {
  const auto found = std::ranges::find_if(curves, [&](const CopyCurve& curve) {
    return curve.way == way && curve.direction == direction && curve.threads == threads;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::vector<const CopyCurve*> all_curves(const TransferResult& result) {
  std::vector<const CopyCurve*> all;
  for (const auto* curves :
       {&result.host.curves, result.device ? &result.device->curves : nullptr}) {
    for (std::size_t i = 0; curves != nullptr && i < curves->size(); ++i) {
      all.push_back(&(*curves)[i]);
    }
  }
  return all;
}

bool all_verified(const TransferResult& result) {
  return std::ranges::all_of(all_curves(result), [](const CopyCurve* curve) {
    return std::ranges::all_of(curve->points, &CopyPoint::verified);
  });
}

double rate_of(const CopyPoint& point) {
  return static_cast<double>(point.bytes) / seconds_per_copy(point).value();
}

std::optional<double> best_rate(const CopyCurve& curve) {
  std::optional<double> best;
  for (const CopyPoint& point : curve.points) {
    if (!point.samples.empty()) {
      best = std::max(best.value_or(0), rate_of(point));
    }
  }
  return best;
}

std::optional<LinearCost> fit_curve(const CopyCurve& curve) {
  std::vector<CostPoint> points;
  for (const CopyPoint& point : curve.points) {
    if (const auto seconds = seconds_per_copy(point)) {
      points.push_back({point.bytes, *seconds});
    }
  }
  return fit_linear_cost(points);
}

std::optional<double> saved_by_locking(const DeviceCopies& device, std::string_view mode,
                                       std::int64_t bytes) {
  const CopyCurve* pageable = find_curve(device.curves, "pageable", "h2d");
  const CopyCurve* locked = find_curve(device.curves, mode, "h2d");
  if (pageable == nullptr || locked == nullptr) {
    return std::nullopt;
  }
  const CopyPoint* slow = timed_point(*pageable, bytes);
  const CopyPoint* fast = timed_point(*locked, bytes);
  if (slow == nullptr || fast == nullptr) {
    return std::nullopt;
  }
  return *seconds_per_copy(*slow) - *seconds_per_copy(*fast);
}

std::string_view held_in(std::int64_t bytes, int threads, const Caches& caches) {
  const std::int64_t both = 2 * bytes;
  if (both / threads <= caches.l1d) {
    return "L1";
  }
  if (both / threads <= caches.l2) {
    return "L2";
  }
  return both <= caches.l3 ? "L3" : "memory"; // which all threads share
}

std::optional<Agreement> memcpy_against_loop(const HostCopies& host) {
  const CopyCurve* copy = find_curve(host.curves, "memcpy", "host");
  const CopyCurve* loop = find_curve(host.curves, "loop", "host");
  if (copy == nullptr || loop == nullptr) {
    return std::nullopt;
  }
  Agreement agreement;
  for (const CopyPoint& point : copy->points) {
    const CopyPoint* other = timed_point(*loop, point.bytes);
    if (other == nullptr || point.samples.empty()) {
      continue;
    }
    const double ratio = rate_of(point) / rate_of(*other);
    ++agreement.sizes;
    agreement.within += std::abs(ratio - 1) <= agreement_bar ? 1 : 0;
    if (std::abs(std::log(ratio)) >= std::abs(std::log(agreement.furthest_ratio))) {
      agreement.furthest_bytes = point.bytes;
      agreement.furthest_ratio = ratio;
    }
  }
  return agreement.sizes > 0 ? std::optional(agreement) : std::nullopt;
}

} // namespace diffbench::bench
