// SPDX-License-Identifier: Apache-2.0
#include "assumed_report.hpp"
#include "context.hpp"
#include "device_copies.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"
#include "host_copies.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "planning.hpp"
#include "rounds.hpp"
#include "transfer_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t kibibyte = 1 << 10;
constexpr std::int64_t smallest_size = kibibyte;
constexpr std::int64_t largest_size = kibibyte << 30;
constexpr std::int64_t usual_largest_size = 1 << 30;

struct TransferPlan {
  std::int64_t largest = 0; ///< 0: as memory allows
  std::int64_t step = 2;
  int threads = 0; ///< 0: the usable CPUs
  double budget = 10;
  bool budget_binds = false;
  int device = 0;
  bool device_chosen = false;
  std::optional<AssumedCard> assumed;
  LabOutput output;

  /// From the smallest on.
  [[nodiscard]] std::vector<std::int64_t> sizes() const;
  /// Of the host's copies, or the device's, where there are so many parts of the two.
  [[nodiscard]] CopyTime time(int parts) const {
    if (!budget_binds) {
      return {.planned = budget};
    }
    constexpr double planned = 0.4; // verification, and what large copies take beyond their share
    return {.planned = planned * budget / parts, .limit = budget / parts};
  }
};

std::int64_t parse_size(std::string_view option, const std::string& text) {
  std::int64_t unit = 1;
  std::string digits = text;
  if (const std::size_t found =
          text.empty() ? std::string::npos : std::string_view("KMG").find(text.back());
      found != std::string::npos) {
    unit = kibibyte << (10 * found);
    digits.pop_back();
  }
  const auto number = parse_number<std::int64_t>(digits);
  if (!number || *number < 1 || *number > largest_size / unit || *number * unit < smallest_size) {
    throw InvalidInput(fmt::format("{} {}: give a size from 1K to {}G, such as 64K, 16M or 1G",
                                   option, text, largest_size >> 30));
  }
  return *number * unit;
}

/// What memory allows is half of it for the two arrays.
std::int64_t largest_allowed() { return std::max(available_memory() / 4, smallest_size); }

std::int64_t parse_allowed_size(std::string_view option, const std::string& text) {
  const std::int64_t allowed = largest_allowed();
  const std::int64_t asked = parse_size(option, text);
  if (asked > allowed) {
    throw InvalidInput(fmt::format(
        "{} {}: two arrays of it need {}, and half of the free memory is {}; choose at "
        "most {}",
        option, text, format_bytes(2 * asked), format_bytes(2 * allowed), format_bytes(allowed)));
  }
  return asked;
}

std::vector<std::int64_t> TransferPlan::sizes() const {
  const std::int64_t last = largest > 0 ? largest : std::min(usual_largest_size, largest_allowed());
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = smallest_size; size <= last; size *= step) {
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::string> notes_of(const TransferResult& result, std::int64_t largest) {
  std::vector<std::string> notes;
  const std::vector<CopyPoint>& host = result.host.curves.front().points;
  if (!interrupted() && (host.empty() || host.back().bytes < largest)) {
    notes.push_back(fmt::format("the host's copies end at {}: larger ones do not fit into --budget",
                                host.empty() ? "none" : format_bytes(host.back().bytes)));
  }
  if (result.device && result.device->ended_by_budget) {
    notes.emplace_back(
        "copies to and from the GPU end early: larger ones do not fit into --budget");
  } else if (result.device && !result.device->emulated && !result.device->pinning.empty() &&
             result.device->pinning.back().bytes < largest && !interrupted()) {
    notes.push_back(
        fmt::format("copies to and from the GPU end at {}: larger ones in all modes "
                    "need more memory than is free",
                    format_bytes(result.device->pinning.back().bytes)));
  }
  return notes;
}

void allow_for_others(std::vector<CopyCurve>& curves, std::optional<bool> disturbed) {
  for (CopyCurve& curve : curves) {
    for (CopyPoint& point : curve.points) {
      bench::allow_for_others(point.samples, disturbed);
    }
  }
}

LabReport measure_transfer(const TransferPlan& plan, const Probe& probe, Progress& progress) {
  const std::vector<std::int64_t> sizes = plan.sizes();
  const int threads = plan.threads > 0 ? plan.threads : usable_cpus();
  const LoadWatch load;
  TransferResult result;
  const CopyTime time = plan.time(probe.available ? 2 : 1);
  result.host = measure_host_copies(sizes, threads, time, interrupted, progress);
  if (probe.available) {
    result.device = measure_device_copies(sizes, plan.device, time, interrupted, progress);
  } else {
    result.no_device = probe.reason;
  }
  allow_for_others(result.host.curves, load.others_disturb());
  if (result.device) {
    allow_for_others(result.device->curves, load.others_disturb());
  }
  LabReport report{.text = format_transfer(result),
                   .sentence = transfer_sentence(result),
                   .data = to_json(result),
                   .pictures = copy_pictures(result),
                   .rows = copy_lines(result),
                   .series = sample_series(result),
                   .notes = notes_of(result, sizes.back()),
                   .interrupted = interrupted(),
                   .outcome = {}};
  if (plan.assumed) {
    append_assumed_copies(report, *plan.assumed, result, sizes);
  }
  if (!all_verified(result)) {
    report.outcome = {.exit_code = exit_not_verified,
                      .complaint = "other bytes arrived than were sent; see the table"};
  }
  return report;
}

} // namespace

Action declare_transfer(OptionList& options) {
  const auto plan = std::make_shared<TransferPlan>();
  options.group("What is copied");
  options.value(
      "--max-size BYTES",
      described("largest copy, as 64K, 16M or 1G", "1K to 1024G", "1G, as far as memory allows"),
      [&plan = *plan](std::string_view option, const std::string& text) {
        plan.largest = parse_allowed_size(option, text);
      });
  options.integer("--step N", plan->step, {2, kibibyte}, "each size is N times the one before");
  declare_threads(options, plan->threads, "for the host's copies on all threads",
                  "the usable CPUs");
  declare_device(options, plan->device, plan->device_chosen,
                 "CUDA device; without one, the host alone");
  declare_budget(options, plan->budget, plan->budget_binds,
                 " for the host's copies, and for the device's");
  declare_assume(options, plan->assumed);
  plan->output.declare(options);
  return [plan](const Invocation& invocation) {
    const Probe probe = probe_device_copies(plan->device);
    if (plan->device_chosen && !probe.available) {
      throw Unavailable(fmt::format("--device {}: {}", plan->device, probe.reason));
    }
    plan->output.expect(plan->budget,
                        "growing copies, " + limit_text(plan->budget, plan->budget_binds),
                        plan->budget_binds);
    return run_experiment("transfer", plan->output, invocation, [&](Progress& progress) {
      return measure_transfer(*plan, probe, progress);
    });
  };
}

} // namespace diffbench::bench
