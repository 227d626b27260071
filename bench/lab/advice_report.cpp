#include "advice_report.hpp"

#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

std::string ways_table(const Advice& advice) {
  TextTable table({"backend", "device", "threads", "time/iter", "warm run", "cold run", "memory",
                   "device memory", "fits"});
  for (const AdvisedWay& way : advice.ways) {
    const Prediction& prediction = way.prediction;
    table.add(
        {way.backend, way.device, std::to_string(way.threads),
         format_seconds(prediction.steps_seconds / static_cast<double>(advice.run.iterations)),
         format_seconds(prediction.warm_seconds), format_seconds(prediction.cold_seconds),
         way.need ? format_bytes(way.need->host) : "-",
         way.need && way.need->device > 0 ? format_bytes(way.need->device) : "-",
         !way.fits  ? "NO"
         : way.need ? "yes"
                    : "-"});
  }
  return table.format();
}

std::string side_text(const std::optional<double>& side) {
  return side ? fmt::format("{:.0f}x{:.0f}", *side, *side) : "nowhere";
}

std::string pays_table(const Advice& advice) {
  TextTable table({"the GPU pays from", "grid, at these iterations", "iterations, at this grid"});
  for (const auto& [name, pays] :
       {std::pair{"warm run", &advice.warm}, std::pair{"cold run", &advice.cold}}) {
    table.add({name, side_text(pays->side),
               pays->iterations ? std::to_string(*pays->iterations) : "never"});
  }
  return table.format();
}

std::string sentence(const Advice& advice) {
  const AdvisedWay* cpu = fastest(advice, RunKind::warm, "cpu");
  const AdvisedWay* gpu = fastest(advice, RunKind::warm, "cuda");
  if (cpu == nullptr && gpu == nullptr) {
    return "None of the ways fits in the memory that is free: choose a smaller --grid.";
  }
  if (gpu == nullptr || cpu == nullptr) {
    const AdvisedWay& only = cpu != nullptr ? *cpu : *gpu;
    return fmt::format(
        "{} is predicted to be the fastest: {} warm, {} cold. {}", only.backend,
        format_seconds(only.prediction.warm_seconds), format_seconds(only.prediction.cold_seconds),
        !advice.any_gpu ? "The profile has no GPU, so whether one would pay is not known."
        : !advice.any_cpu
            ? "The profile has no way of the CPU, so whether the GPU pays is not known."
            : "The other device's ways do not fit.");
  }
  const double ratio = cpu->prediction.warm_seconds / gpu->prediction.warm_seconds;
  return fmt::format(
      "The GPU {}: {} is predicted to take {} warm, {} on the CPU {}; it pays from "
      "a grid of {} at these iterations, and {} at this grid.",
      ratio > 1 ? "pays" : "does not pay", gpu->backend,
      format_seconds(gpu->prediction.warm_seconds), cpu->backend,
      format_seconds(cpu->prediction.warm_seconds), side_text(advice.warm.side),
      advice.warm.iterations ? fmt::format("from {} iterations", *advice.warm.iterations)
                             : "at no number of iterations");
}

ordered_json pays_json(const PaysFrom& pays) {
  return {{"grid_side", number(pays.side)}, {"iterations", number(pays.iterations)}};
}

ordered_json advice_json(const Advice& advice, const CostProfile& profile, const Options& options) {
  ordered_json ways = ordered_json::array();
  for (const AdvisedWay& way : advice.ways) {
    ways.push_back({{"backend", way.backend},
                    {"device", way.device},
                    {"threads", way.threads},
                    {"steps_seconds", number(way.prediction.steps_seconds)},
                    {"warm_seconds", number(way.prediction.warm_seconds)},
                    {"cold_seconds", number(way.prediction.cold_seconds)},
                    {"beyond_calibration", way.prediction.beyond},
                    {"host_bytes", way.need ? ordered_json(way.need->host) : nullptr},
                    {"device_bytes", way.need ? ordered_json(way.need->device) : nullptr},
                    {"fits", way.fits}});
  }
  return {{"nx", options.problem.nx},
          {"ny", options.problem.ny},
          {"iterations", options.iterations},
          {"snapshot_every", options.record.snapshot_every},
          {"dtype", to_string(options.problem.dtype)},
          {"profile",
           {{"machine", profile.machine},
            {"date", profile.date},
            {"recorded_elsewhere", !profile.foreign.empty()}}},
          {"ways", std::move(ways)},
          {"gpu_pays_from",
           advice.compares_devices()
               ? ordered_json{{"warm", pays_json(advice.warm)}, {"cold", pays_json(advice.cold)}}
               : ordered_json(nullptr)}};
}

std::string signed_percent(double error) { return fmt::format("{:+.0f} %", 100 * error); }

std::string summary_text(const ErrorSummary& errors, const char* what) {
  return errors.count == 0
             ? std::string()
             : fmt::format("{} {}: median error {:.1f} %, worst {:.1f} %\n", errors.count, what,
                           100 * errors.median, 100 * errors.worst);
}

ordered_json summary_json(const ErrorSummary& errors) {
  return {{"count", errors.count},
          {"median_error", number(errors.median)},
          {"worst_error", number(errors.worst)}};
}

} // namespace

LabReport report_advice(const Advice& advice, const CostProfile& profile, const Options& options) {
  LabReport report;
  const Problem& problem = options.problem;
  report.text =
      fmt::format("predicted: {}x{} {}, {} iterations{}\n\n", problem.nx, problem.ny,
                  to_string(problem.dtype), options.iterations,
                  options.record.snapshot_every > 0
                      ? fmt::format(", a snapshot every {}", options.record.snapshot_every)
                      : "");
  report.text += ways_table(advice);
  if (advice.compares_devices()) {
    report.text += "\n" + pays_table(advice);
  }
  if (advice.any_gpu) {
    report.notes.emplace_back(
        "what is free on the device is asked for when a backend runs, not here");
  }
  report.sentence = sentence(advice);
  report.data = advice_json(advice, profile, options);
  std::vector<std::string> beyond, below;
  for (const AdvisedWay& way : advice.ways) {
    if (way.prediction.beyond) {
      beyond.push_back(way.backend);
    }
    if (way.prediction.below) {
      below.push_back(way.backend);
    }
  }
  if (!below.empty()) {
    report.notes.push_back(
        fmt::format("the grid is smaller than what was calibrated of {}: its time "
                    "is taken to be that of the smallest",
                    fmt::join(below, ", ")));
  }
  if (!beyond.empty()) {
    report.notes.push_back(
        fmt::format("the grid is larger than what was calibrated of {}: its "
                    "time is taken to grow with the cells",
                    fmt::join(beyond, ", ")));
  }
  return report;
}

void append_check(LabReport& report, std::span<const CheckedPrediction> checked) {
  TextTable table({"backend", "grid", "iterations", "run", "predicted", "measured", "error"});
  ordered_json list = ordered_json::array();
  for (const CheckedPrediction& one : checked) {
    table.add({one.backend, fmt::format("{}x{}", one.nx, one.ny), std::to_string(one.steps),
               one.what, format_seconds(one.predicted), format_seconds(one.measured),
               signed_percent(one.error())});
    list.push_back({{"backend", one.backend},
                    {"nx", one.nx},
                    {"ny", one.ny},
                    {"iterations", one.steps},
                    {"run", one.what},
                    {"predicted_seconds", number(one.predicted)},
                    {"measured_seconds", number(one.measured)},
                    {"error", number(one.error())}});
  }
  const ErrorSummary warm = summarize_errors(checked, false);
  const ErrorSummary cold = summarize_errors(checked, true);
  report.text += "\n" + table.format() + "\n" + summary_text(warm, "predictions of warm runs") +
                 summary_text(cold, "predictions of cold runs");
  report.data["check"] = {
      {"predictions", std::move(list)}, {"warm", summary_json(warm)}, {"cold", summary_json(cold)}};
}

} // namespace diffbench::bench
