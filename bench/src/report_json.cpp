#include "report_json.hpp"

#include "irregularity.hpp"
#include "metrics.hpp"
#include "result_file.hpp"
#include "speedup.hpp"
#include "telemetry_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

ordered_json phases_json(const std::optional<Phases>& phases) {
  if (!phases) {
    return nullptr;
  }
  ordered_json json;
  for (const NamedPhase& phase : named_phases) {
    json[std::string(phase.name)] = number((*phases).*phase.member);
  }
  json["unexplained"] = number(phases->unexplained);
  json["wall"] = number(phases->wall);
  return json;
}

ordered_json busy_json(const std::optional<Phases>& phases) {
  if (!phases || !phases->busy) {
    return nullptr;
  }
  return {{"h2d", number(phases->busy->h2d)},
          {"compute", number(phases->busy->compute)},
          {"d2h", number(phases->busy->d2h)}};
}

ordered_json speedups_json(const Speedups& times) {
  return {{"kernels_only", number(times.kernels)},
          {"per_iteration", number(times.per_iteration)},
          {"warm", number(times.warm)},
          {"cold", number(times.cold)}};
}

ordered_json transfers_json(const std::optional<TransferStudy>& study) {
  if (!study) {
    return nullptr;
  }
  auto copy = [](const TransferStudy::CopySeconds& seconds) {
    return ordered_json{{"h2d_seconds", number(seconds.h2d)}, {"d2h_seconds", number(seconds.d2h)}};
  };
  const auto trips = study->trips_to_pay();
  return {{"backend", study->backend},
          {"transfer", to_string(study->transfer)},
          {"bytes", study->bytes},
          {"setup_seconds", number(study->setup_seconds)},
          {"pageable", copy(study->pageable)},
          {"chosen", copy(study->chosen)},
          {"saved_seconds_per_trip", number(study->saved_per_trip())},
          {"trips_to_pay", number(trips)}};
}

ordered_json interval_json(const std::optional<Interval>& interval) {
  if (!interval) {
    return nullptr;
  }
  return {{"low", number(interval->low)},
          {"high", number(interval->high)},
          {"confidence", number(interval->confidence)}};
}

ordered_json irregularities_json(const Row& row) {
  ordered_json json = ordered_json::array();
  for (const Irregularity irregularity : irregularities(iteration_seconds(row.samples))) {
    json.push_back(to_string(irregularity));
  }
  return json;
}

ordered_json verified_json(const Row& row) {
  if (!row.verification) {
    return nullptr;
  }
  const Verification& verification = *row.verification;
  return {{"bitwise", verification.bitwise},
          {"reference", "scalar loop, NumPy's order of operations"},
          {"steps", verification.steps},
          {"max_abs_error", number(verification.max_abs_error)},
          {"nonfinite", verification.nonfinite}};
}

ordered_json provenance_json(const Provenance& provenance) {
  ordered_json json = {{"threads", provenance.threads}};
  for (const auto& [name, value] : provenance.details) {
    json[name] = value;
  }
  return json;
}

ordered_json copy_json(const std::optional<CopyBandwidth>& copy) {
  if (!copy) {
    return nullptr;
  }
  return {{"memcpy_bytes_per_second", number(copy->memcpy_bytes_per_second)},
          {"streaming_bytes_per_second", number(copy->streaming_bytes_per_second)},
          {"array_bytes", copy->array_bytes},
          {"threads", copy->threads}};
}

ordered_json field_json(const std::optional<FieldFacts>& field) {
  if (!field) {
    return nullptr;
  }
  return {{"steps", field->steps},
          {"sha256", field->sha256},
          {"min", number(field->summary.min)},
          {"max", number(field->summary.max)},
          {"sum", number(field->summary.sum)},
          {"nonfinite", field->summary.nonfinite}};
}

} // namespace

ordered_json problem_json(const ComparisonResult& result) {
  const Problem& problem = result.problem;
  return {{"nx", problem.nx},
          {"ny", problem.ny},
          {"iterations", result.iterations},
          {"spacing", number(problem.spacing)},
          {"diffusivity", number(problem.diffusivity)},
          {"dt", number(problem.dt)},
          {"diffusion_number", number(problem.diffusion_number())},
          {"boundary", to_string(problem.boundary)},
          {"boundary_value", number(problem.boundary_value)},
          {"dtype", to_string(problem.dtype)},
          {"init", to_string(result.initial)},
          {"seed", result.initial.seed},
          {"bytes_per_step", problem.bytes_per_step()},
          {"flops_per_step", problem.flops_per_step()}};
}

ordered_json row_json(const ComparisonResult& result, const Row& row) {
  ordered_json json;
  json["backend"] = row.name;
  json["device"] = row.device;
  json["roundtrip_every"] =
      row.roundtrip_every > 0 ? ordered_json(row.roundtrip_every) : ordered_json(nullptr);
  json["snapshot_every"] =
      row.snapshot_every > 0 ? ordered_json(row.snapshot_every) : ordered_json(nullptr);
  json["status"] = to_string(row.status);
  json["reason"] = row.reason.empty() ? ordered_json(nullptr) : ordered_json(row.reason);
  json["provenance"] = row.verification ? provenance_json(row.provenance) : nullptr;
  json["verified"] = verified_json(row);
  const auto figures = metrics(result, row);
  auto figure = [&](double Metrics::*member) {
    return figures ? number((*figures).*member) : ordered_json(nullptr);
  };
  auto optional_figure = [&](std::optional<double> Metrics::*member) {
    return figures ? number((*figures).*member) : ordered_json(nullptr);
  };
  auto quartile = [&](double Quartiles::*member) {
    return figures ? number(figures->time.*member) : ordered_json(nullptr);
  };
  json["seconds_per_iteration"] = quartile(&Quartiles::median);
  json["seconds_per_iteration_quartiles"] = {{"min", quartile(&Quartiles::min)},
                                             {"q1", quartile(&Quartiles::q1)},
                                             {"q3", quartile(&Quartiles::q3)},
                                             {"max", quartile(&Quartiles::max)}};
  json["seconds_per_iteration_interval"] =
      interval_json(figures ? figures->time_interval : std::nullopt);
  json["irregularities"] = irregularities_json(row);
  json["cells_per_second"] = figure(&Metrics::cells_per_second);
  json["bytes_per_second"] = figure(&Metrics::bytes_per_second);
  json["fraction_of_copy"] = optional_figure(&Metrics::fraction_of_copy);
  json["speedup_vs_baseline"] = optional_figure(&Metrics::vs_baseline);
  json["speedup_vs_baseline_interval"] =
      interval_json(figures ? figures->vs_baseline_interval : std::nullopt);
  json["speedup_vs_best_cpu"] = optional_figure(&Metrics::vs_best_cpu);
  ordered_json samples = ordered_json::array();
  for (const Sample& sample : row.samples) {
    samples.push_back(number(sample.seconds));
  }
  json["samples_seconds"] = std::move(samples);
  json["iterations_per_sample"] =
      row.samples.empty() ? ordered_json(nullptr) : ordered_json(row.samples.front().iterations);
  json["setup_seconds"] = number(row.setup_seconds);
  json["phases"] = phases_json(row.warm);
  json["busy"] = busy_json(row.warm);
  auto wall = [](const std::optional<Phases>& phases) {
    return phases ? number(phases->wall) : ordered_json(nullptr);
  };
  json["end_to_end"] = {{"cold_seconds", wall(row.cold)},
                        {"warm_seconds", wall(row.warm)},
                        {"cold_phases", phases_json(row.cold)},
                        {"cold_busy", busy_json(row.cold)}};
  json["speedups"] = nullptr;
  if (row.on_device()) {
    json["speedups"] = {
        {"vs_baseline", speedups_json(speedups(result, row, result.find(result.baseline)))},
        {"vs_best_cpu", speedups_json(speedups(result, row, best_cpu(result)))}};
  }
  json["peak_host_bytes"] = number(row.peak_host_bytes);
  json["peak_device_bytes"] = number(row.peak_device_bytes);
  json["telemetry"] = telemetry_json(row.telemetry);
  json["threads"] = row.verification ? ordered_json(row.provenance.threads) : ordered_json(nullptr);
  return json;
}

SampleSeries sample_series(const ComparisonResult& result, const Row& row,
                           std::string_view family) {
  const Problem& problem = result.problem;
  return {.name = fmt::format("{}/{}/{}/{}x{}", family, row.name, to_string(problem.dtype),
                              problem.nx, problem.ny),
          .threads = row.provenance.threads,
          .samples = row.samples,
          .per_iteration = {{"cells_per_second", static_cast<double>(problem.cells())},
                            {"bytes_per_second", static_cast<double>(problem.bytes_per_step())}}};
}

ordered_json to_json(const ComparisonResult& result) {
  std::vector<SampleSeries> series;
  ordered_json rows = ordered_json::array();
  for (const Row& row : result.rows) {
    if (row.ranked()) {
      series.push_back(sample_series(result, row, "stencil"));
    }
    rows.push_back(row_json(result, row));
  }
  return result_file(result.context, series,
                     {{"schema", result_schema},
                      {"command", result.command},
                      {"interrupted", result.interrupted},
                      {"problem", problem_json(result)},
                      {"baseline", result.baseline},
                      {"budget_seconds", number(result.budget_seconds)},
                      {"copy", copy_json(result.copy)},
                      {"results", std::move(rows)},
                      {"transfers", transfers_json(result.transfers)},
                      {"field", field_json(result.field)},
                      {"telemetry", telemetry_json(result.telemetry)},
                      {"peak_host_bytes", number(result.peak_host_bytes)},
                      {"notes", result.notes}});
}

std::string format_json(const ComparisonResult& result) { return to_text(to_json(result)); }

} // namespace diffbench::bench
