// SPDX-License-Identifier: Apache-2.0
#include "transfer_report.hpp"

#include "context.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

/// The median rate of a curve's points at each level of the memory, innermost first.
std::vector<std::pair<std::string, double>> rates_by_level(const CopyCurve& curve,
                                                           const Caches& caches) {
  std::vector<std::pair<std::string, double>> levels;
  for (const std::string_view level : {"L1", "L2", "L3", "memory"}) {
    std::vector<double> rates;
    for (const CopyPoint& point : curve.points) {
      if (!point.samples.empty() && held_in(point.bytes, curve.threads, caches) == level) {
        rates.push_back(rate_of(point));
      }
    }
    if (!rates.empty()) {
      std::ranges::sort(rates);
      levels.emplace_back(level, rates[rates.size() / 2]);
    }
  }
  return levels;
}

std::string host_sentence(const HostCopies& host) {
  const CopyCurve* copy = find_curve(host.curves, "memcpy", "host");
  if (copy == nullptr || !best_rate(*copy)) {
    return "Nothing was measured.";
  }
  std::vector<std::string> parts;
  for (const auto& [level, rate] : rates_by_level(*copy, host.caches)) {
    parts.push_back(fmt::format("{} GB/s in {}", format_figure(1e-9 * rate), level));
  }
  return fmt::format(
      "memcpy on one thread moves {} here: the cost of a copy depends first on where its bytes "
      "are.",
      fmt::join(parts, ", "));
}

/// By the largest size at which both were measured.
std::string device_sentence(const DeviceCopies& device) {
  const CopyCurve* pageable = find_curve(device.curves, "pageable", "h2d");
  const CopyCurve* pinned = find_curve(device.curves, "pinned", "h2d");
  const auto fit = pinned == nullptr ? std::nullopt : fit_curve(*pinned);
  if (pageable == nullptr || !fit) {
    return "";
  }
  const CopyPoint* slow = nullptr;
  const CopyPoint* fast = nullptr;
  for (const CopyPoint& point : pinned->points) {
    if (const CopyPoint* other = timed_point(*pageable, point.bytes);
        other != nullptr && !point.samples.empty()) {
      slow = other;
      fast = &point;
    }
  }
  if (slow == nullptr) {
    return "";
  }
  return fmt::format(
      " To {}, {} take {} from pinned memory and {} from pageable; below {} a copy's latency of {} "
      "costs more than its bytes.",
      device.name, format_bytes(fast->bytes), format_seconds(*seconds_per_copy(*fast)),
      format_seconds(*seconds_per_copy(*slow)),
      format_bytes(static_cast<std::int64_t>(fit->half_bandwidth_bytes())),
      format_seconds(fit->latency));
}

/// As bench/suites names them; with the number of threads at the end where it is not one, as Google
/// Benchmark does.
std::string series_name(const CopyCurve& curve, std::int64_t bytes) {
  return fmt::format("transfer/{}/{}/{}{}", curve.direction, curve.way, bytes,
                     curve.threads > 1 ? fmt::format("/threads:{}", curve.threads) : "");
}

} // namespace

std::string format_transfer(const TransferResult& result) {
  return format_host_copies(result.host) +
         (result.device
              ? "\n" + format_device_copies(*result.device)
              : fmt::format("\nskipped: copies to and from a GPU: {}\n", result.no_device));
}

std::string transfer_sentence(const TransferResult& result) {
  return host_sentence(result.host) + (result.device ? device_sentence(*result.device) : "");
}

std::vector<SampleSeries> sample_series(const TransferResult& result) {
  std::vector<SampleSeries> series;
  for (const CopyCurve* curve : all_curves(result)) {
    for (const CopyPoint& point : curve->points) {
      if (!point.samples.empty()) {
        series.push_back(
            {.name = series_name(*curve, point.bytes),
             .threads = curve->threads,
             .samples = point.samples,
             .per_iteration = {{"bytes_per_second", static_cast<double>(point.bytes)}}});
      }
    }
  }
  return series;
}

} // namespace diffbench::bench
