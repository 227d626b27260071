// SPDX-License-Identifier: Apache-2.0
#include "transfer_result.hpp"

#include "statistics.hpp"

#include <algorithm>

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

} // namespace diffbench::bench
