#include "transfer.hpp"

#include "context.hpp"
#include "device_copies.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "foreign_load.hpp"
#include "host_copies.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "transfer_figures.hpp"
#include "transfer_json.hpp"
#include "transfer_replay.hpp"
#include "transfer_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t kibibyte = 1 << 10;
constexpr std::int64_t smallest_size = kibibyte;
constexpr std::int64_t largest_size = kibibyte << 30;
constexpr std::int64_t usual_largest_size = 1 << 30;
constexpr double longest_budget = 86400;

/// The options as they were typed.
struct TransferOptions {
  std::string max_size, step, threads, budget, device, replay;
  LabOutput output;

  void declare(CLI::App& app) {
    begin_group(app, "What is copied");
    declare_value(app, "--max-size", max_size, "BYTES",
                  "largest copy, as 64K, 16M or 1G (default 1G, as far as memory allows)");
    declare_value(app, "--step", step, "N", "each size is N times the one before (default 2)");
    declare_value(app, "--threads", threads, "N",
                  "for the host's copies on all threads (default: the usable CPUs)");
    declare_value(app, "--device", device, "N",
                  "CUDA device (default 0; without one, the host alone)");
    declare_value(app, "--budget", budget, "SECONDS",
                  "time for the host's copies, and for the device's (default 10)");
    begin_group(app, "Instead");
    declare_value(app, "--replay", replay, "FILE",
                  "show the recorded result in FILE; measures nothing");
    output.declare(app);
  }
  [[nodiscard]] bool measures() const {
    return !(max_size + step + threads + budget + device + output.json).empty();
  }
};

/// The same, checked.
struct Plan {
  std::vector<std::int64_t> sizes;
  int threads = 1;
  double budget = 10;
  int device = 0;
  bool device_chosen = false;
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

/// From the smallest on, up to `largest`.
std::vector<std::int64_t> sizes_up_to(std::int64_t largest, std::int64_t step) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = smallest_size; size <= largest; size *= step) {
    sizes.push_back(size);
  }
  return sizes;
}

/// What memory allows is half of it for the two arrays; refuses where more was asked for.
std::int64_t largest_allowed(const TransferOptions& options) {
  const std::int64_t allowed = std::max(available_memory() / 4, smallest_size);
  if (options.max_size.empty()) {
    return std::min(usual_largest_size, allowed);
  }
  const std::int64_t asked = parse_size("--max-size", options.max_size);
  if (asked > allowed) {
    throw InvalidInput(
        fmt::format("--max-size {}: two arrays of it need {}, and half of the free "
                    "memory is {}; choose at most {}",
                    options.max_size, format_bytes(2 * asked), format_bytes(2 * allowed),
                    format_bytes(allowed)));
  }
  return asked;
}

Plan read_plan(const TransferOptions& options) {
  Plan plan;
  std::int64_t step = 2;
  assign_integer("--step", options.step, 2, kibibyte, step);
  plan.sizes = sizes_up_to(largest_allowed(options), step);
  std::int64_t threads = usable_cpus();
  assign_integer("--threads", options.threads, 1, max_threads, threads);
  plan.threads = static_cast<int>(threads);
  assign_real("--budget", options.budget, plan.budget);
  if (!(plan.budget > 0 && plan.budget <= longest_budget)) {
    throw InvalidInput(fmt::format("--budget {}: give a number of seconds above 0, at most {}",
                                   options.budget, longest_budget));
  }
  std::int64_t device = 0;
  assign_integer("--device", options.device, 0, 1023, device);
  plan.device = static_cast<int>(device);
  plan.device_chosen = !options.device.empty();
  return plan;
}

std::vector<std::string> notes_of(const TransferResult& result, std::int64_t largest) {
  std::vector<std::string> notes;
  double wall = 0;
  double cpu = 0;
  for (const CopyCurve& curve : result.host.curves) {
    for (const CopyPoint& point : curve.points) {
      for (const Sample& sample : point.samples) {
        wall += curve.threads == 1 ? sample.seconds : 0;
        cpu += curve.threads == 1 ? sample.cpu_seconds.value_or(0) : 0;
      }
    }
  }
  if (const auto note = foreign_load(cpu, wall)) {
    notes.push_back(*note);
  }
  if (result.device && !result.device->emulated && !result.device->pinning.empty() &&
      result.device->pinning.back().bytes < largest && !interrupted()) {
    notes.push_back(
        fmt::format("copies to and from the GPU end at {}: larger ones in all modes "
                    "need more memory than is free",
                    format_bytes(result.device->pinning.back().bytes)));
  }
  return notes;
}

LabReport measure_transfer(const Plan& plan, const Probe& probe, Progress& progress) {
  TransferResult result;
  result.host = measure_host_copies(plan.sizes, plan.threads, plan.budget, interrupted, progress);
  if (probe.available) {
    result.device =
        measure_device_copies(plan.sizes, plan.device, plan.budget, interrupted, progress);
  } else {
    result.no_device = probe.reason;
  }
  LabReport report{.text = format_transfer(result),
                   .sentence = transfer_sentence(result),
                   .data = to_json(result),
                   .series = sample_series(result),
                   .notes = notes_of(result, plan.sizes.back()),
                   .interrupted = interrupted(),
                   .outcome = {}};
  if (!all_verified(result)) {
    report.outcome = {.exit_code = exit_not_verified,
                      .complaint = "other bytes arrived than were sent; see the table"};
  }
  return report;
}

int run_transfer(const TransferOptions& options, const Invocation& invocation) {
  if (!options.replay.empty()) {
    if (options.measures()) {
      throw InvalidInput(
          "--replay shows a recorded result as it is and takes no other option; its JSON is the "
          "file itself");
    }
    write_out(invocation.out, replay_transfer(options.replay));
    return exit_ok;
  }
  const Plan plan = read_plan(options);
  const Probe probe = probe_device_copies(plan.device);
  if (plan.device_chosen && !probe.available) {
    throw Unavailable(fmt::format("--device {}: {}", plan.device, probe.reason));
  }
  return run_experiment("transfer", options.output, invocation, [&](Progress& progress) {
    return measure_transfer(plan, probe, progress);
  });
}

} // namespace

Action declare_transfer(CLI::App& app) {
  const auto options = std::make_shared<TransferOptions>();
  options->declare(app);
  return [options](const Invocation& invocation) { return run_transfer(*options, invocation); };
}

} // namespace diffbench::bench
