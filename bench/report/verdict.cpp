// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include "conclusion.hpp"
#include "metrics.hpp"
#include "table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace diffbench::bench {

namespace {

/// Above this share of the copy bandwidth, memory is what limits a single sweep.
constexpr double near_the_roof = 0.7;

/// What it ran on: threads of the CPU, or the device by its name.
std::string place(const Row& row) {
  if (row.on_device()) {
    return row.provenance.device.empty() ? "a GPU" : row.provenance.device;
  }
  return counted(row.provenance.threads, "thread");
}

std::string against(const ComparisonResult& result, const Row& best) {
  std::vector<std::string> parts;
  auto compare_with = [&](const Row* other, const char* what) {
    if (other != nullptr && other->ranked() && other != &best) {
      const double times = *seconds_per_iteration(*other) / *seconds_per_iteration(best);
      parts.push_back(format_pace(times, other->name) + what);
    }
  };
  const Row* baseline = result.find(result.baseline);
  const Row* one_thread = fastest(result, [](const Row& row) {
    return !row.is_peer && row.device == DeviceKind::cpu && row.provenance.threads == 1;
  });
  compare_with(baseline, "");
  if (one_thread != baseline) {
    compare_with(one_thread, " (the best backend on one thread)");
  }
  return parts.empty() ? "" : fmt::format(", {}", fmt::join(parts, " and "));
}

/// What the share of the copy bandwidth means.
std::string against_the_roof(const ComparisonResult& result, const Row& best) {
  const auto share = metrics(result, best)->fraction_of_copy;
  if (!share) {
    return "";
  }
  const bool in_cache = 2 * result.problem.field_bytes() <= result.last_level_cache_bytes;
  const char* meaning = "below the memory roof: arithmetic or the code limits it, not memory";
  if (in_cache) {
    meaning = "old and new field fit in the cache, so memory does not limit it";
  } else if (*share > 1) {
    meaning = "above 100 % because several steps are made while a part of the field is in cache";
  } else if (*share > near_the_roof) {
    meaning = "close to the memory roof of one sweep a step";
  }
  return fmt::format("; it moves {:.0f} % of the copy bandwidth ({})", 100 * *share, meaning);
}

} // namespace

std::string order_doubt(const Ratio& second_over_first, std::string_view second) {
  return second_over_first.interval
             ? fmt::format("; {} took {} to {} times as long, so the order of the two is uncertain",
                           second, format_figure(second_over_first.interval->low),
                           format_figure(second_over_first.interval->high))
             : fmt::format("; too few samples show whether it is really ahead of {}", second);
}

std::string verdict(const ComparisonResult& result) {
  const auto found = leader(result.rows, std::mem_fn(&Row::ranked), result.least_effect,
                            [&](const Row& row, const Row& first) {
                              return ratio_in_run(row.samples, first.samples, result.stopping);
                            });
  const Row* const best = found.best;
  if (best == nullptr) {
    return "No row has both a verified result and a time, so there is nothing to compare.";
  }
  const auto ranked = std::ranges::count_if(result.rows, &Row::ranked);
  const std::string proof =
      best->verification->bitwise ? "verified" : "accepted (not verified: see the note)";
  const std::string rank = ranked > 1 ? fmt::format("is the fastest {} row,", proof)
                                      : fmt::format("is {} and takes", proof);
  const std::string sentence =
      fmt::format("{} on {} {} {} an iteration{}{}{}.", best->name, place(*best), rank,
                  format_seconds(*seconds_per_iteration(*best)), against(result, *best),
                  against_the_roof(result, *best), order_doubt(found));
  const std::string device = device_verdict(result);
  return device.empty() ? sentence : fmt::format("{}\n{}", sentence, device);
}

} // namespace diffbench::bench
