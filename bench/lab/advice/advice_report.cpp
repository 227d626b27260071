// SPDX-License-Identifier: Apache-2.0
#include "advice_report.hpp"

#include "columns.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

struct WayLine : AdvisedWay {
  std::int64_t iterations = 1;
};

constexpr Column<WayLine> way_columns[] = {
    {"backend", "backend", as_text, field<&WayLine::backend>},
    {"device", "device", as_text, field<&WayLine::device>},
    {"threads", "threads", as_text, field<&WayLine::threads>},
    {"steps_seconds", nullptr, as_seconds, field<&WayLine::prediction, &Prediction::steps_seconds>},
    {nullptr, "time/iter", as_seconds,
     [](const WayLine& way) -> Value {
       return way.prediction.steps_seconds / static_cast<double>(way.iterations);
     }},
    {"warm_seconds", "warm run", as_seconds,
     field<&WayLine::prediction, &Prediction::warm_seconds>},
    {"cold_seconds", "cold run", as_seconds,
     field<&WayLine::prediction, &Prediction::cold_seconds>},
    {"beyond_calibration", nullptr, as_text, field<&WayLine::prediction, &Prediction::beyond>},
    {"host_bytes", "memory", as_bytes, field<&WayLine::need, &MemoryNeed::host>},
    {"device_bytes", "device memory",
     [](const Value& bytes) { return bytes.number() > 0 ? as_bytes(bytes) : no_value; },
     field<&WayLine::need, &MemoryNeed::device>},
    {"fits", "fits", as_text, field<&WayLine::fits>,
     [](const WayLine& way) -> std::string {
       return !way.fits ? "NO" : way.need ? "yes" : no_value;
     }},
};

std::vector<WayLine> lines_of(const Advice& advice) {
  std::vector<WayLine> lines;
  for (const AdvisedWay& way : advice.ways) {
    lines.push_back({way, advice.run.iterations});
  }
  return lines;
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
  const AdvisedWay* cpu = fastest(advice, RunKind::warm, DeviceKind::cpu);
  const AdvisedWay* gpu = fastest(advice, RunKind::warm, DeviceKind::cuda);
  if (cpu == nullptr && gpu == nullptr) {
    return "None of the ways fits in the free memory: choose a smaller --grid.";
  }
  if (gpu == nullptr || cpu == nullptr) {
    const AdvisedWay& only = cpu != nullptr ? *cpu : *gpu;
    return fmt::format(
        "{} is predicted to be the fastest: {} warm, {} cold. {}", only.backend,
        format_seconds(only.prediction.warm_seconds), format_seconds(only.prediction.cold_seconds),
        !advice.any_gpu   ? "The profile has no GPU, so whether one would pay is not known."
        : !advice.any_cpu ? "The profile has no CPU backend, so whether the GPU pays is not known."
                          : "Nothing fits on the other device.");
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

Value pays_json(const PaysFrom& pays) {
  return {{"grid_side", pays.side}, {"iterations", pays.iterations}};
}

Value advice_json(const Advice& advice, const CostProfile& profile, const Problem& problem) {
  return {{"nx", problem.nx},
          {"ny", problem.ny},
          {"iterations", advice.run.iterations},
          {"snapshot_every", advice.run.snapshot_every},
          {"dtype", to_string(problem.dtype)},
          {"profile",
           {{"machine", profile.machine},
            {"date", profile.date},
            {"recorded_elsewhere", !profile.foreign.empty()}}},
          {"ways", list_of(way_columns, lines_of(advice))},
          {"gpu_pays_from", advice.compares_devices() ? Value{{"warm", pays_json(advice.warm)},
                                                              {"cold", pays_json(advice.cold)}}
                                                      : Value()}};
}

constexpr Column<CheckedPrediction> check_columns[] = {
    {"backend", "backend", as_text, field<&CheckedPrediction::backend>},
    {nullptr, "grid", as_text,
     [](const CheckedPrediction& one) -> Value { return fmt::format("{}x{}", one.nx, one.ny); }},
    {"nx", nullptr, as_text, field<&CheckedPrediction::nx>},
    {"ny", nullptr, as_text, field<&CheckedPrediction::ny>},
    {"iterations", "iterations", as_text, field<&CheckedPrediction::steps>},
    {"run", "run", as_text, field<&CheckedPrediction::run>},
    {"predicted_seconds", "predicted", as_seconds, field<&CheckedPrediction::predicted>},
    {"measured_seconds", "measured", as_seconds, field<&CheckedPrediction::measured>},
    {"error", "error",
     [](const Value& error) { return fmt::format("{:+.0f} %", 100 * error.number()); },
     [](const CheckedPrediction& one) -> Value { return one.error(); }},
};

std::string summary_text(const ErrorSummary& errors, const char* what) {
  return errors.count == 0
             ? std::string()
             : fmt::format("{} {}: median error {:.1f} %, worst {:.1f} %\n", errors.count, what,
                           100 * errors.median, 100 * errors.worst);
}

Value summary_json(const ErrorSummary& errors) {
  return {{"count", errors.count}, {"median_error", errors.median}, {"worst_error", errors.worst}};
}

} // namespace

LabReport advice_report(const Advice& advice, const CostProfile& profile, const Problem& problem) {
  LabReport report;
  report.text = fmt::format("predicted: {}x{} {}, {} iterations{}\n\n", problem.nx, problem.ny,
                            to_string(problem.dtype), advice.run.iterations,
                            advice.run.snapshot_every > 0
                                ? fmt::format(", a snapshot every {}", advice.run.snapshot_every)
                                : "");
  report.text += format_rows(way_columns, lines_of(advice));
  report.figures = report.text;
  if (advice.compares_devices()) {
    report.text += "\n" + pays_table(advice);
  }
  report.found_in_data = {"gpu_pays_from"};
  if (advice.any_gpu) {
    report.notes.emplace_back(
        "the free memory of the device is checked when a backend runs, not here");
  }
  report.sentence = sentence(advice);
  report.data = advice_json(advice, profile, problem);
  report.pictures = {{"Predicted time of a run", Figure::bars, "backend",
                      "warm_seconds cold_seconds", "", "y", "ways"}};
  report.rows = report.data.find("ways");
  if (profile.disturbed) {
    report.disturbed = true;
    report.notes.emplace_back(
        "other programs were running when this machine was calibrated, so predictions are too "
        "long: calibrate again when nothing else runs (diffbench calibrate)");
  }
  if (profile.interrupted) {
    report.notes.emplace_back(
        "the calibration of this machine was interrupted, so its profile lacks some ways or "
        "grids, or was measured fewer times: diffbench calibrate makes a complete one");
  }
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
        fmt::format("the grid is smaller than what was calibrated for {}: its time is assumed to "
                    "be that of the smallest",
                    fmt::join(below, ", ")));
  }
  if (!beyond.empty()) {
    report.notes.push_back(
        fmt::format("the grid is larger than what was calibrated for {}: its time is assumed to "
                    "grow with the cells",
                    fmt::join(beyond, ", ")));
  }
  return report;
}

namespace {

/// The profile is no longer this machine's, or the check was disturbed.
std::string beyond_bar(const ErrorSummary& warm, const ErrorSummary& cold) {
  const double worst = std::max(warm.median, cold.median);
  return worst > check_bar ? fmt::format(
                                 "\nThe predictions are off by {} in the median, which is more "
                                 "than {}: calibrate "
                                 "again when nothing else runs (diffbench calibrate).",
                                 format_percent(worst), format_percent(check_bar))
                           : "";
}

} // namespace

void append_check(LabReport& report, std::span<const CheckedPrediction> checked) {
  const ErrorSummary warm = summarize_errors(checked, Checked::warm);
  const ErrorSummary cold = summarize_errors(checked, Checked::cold);
  append_table(report, format_rows(check_columns, checked) + "\n" +
                           summary_text(warm, "predictions of warm runs") +
                           summary_text(cold, "predictions of cold runs"));
  report.sentence += beyond_bar(warm, cold);
  report.data["check"] = {{"predictions", list_of(check_columns, checked)},
                          {"warm", summary_json(warm)},
                          {"cold", summary_json(cold)},
                          {"bar", check_bar}};
}

} // namespace diffbench::bench
