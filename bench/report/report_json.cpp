// SPDX-License-Identifier: Apache-2.0
#include "report_json.hpp"

#include "metrics.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace diffbench::bench {

namespace {

Value transfers_json(const std::optional<TransferStudy>& study) {
  if (!study) {
    return nullptr;
  }
  auto copy = [](const TransferStudy::CopySeconds& seconds) {
    return Value{{"h2d_seconds", seconds.h2d}, {"d2h_seconds", seconds.d2h}};
  };
  const auto trips = study->trips_to_pay();
  return {{"backend", study->backend},
          {"transfer", to_string(study->transfer)},
          {"bytes", study->bytes},
          {"setup_seconds", study->setup_seconds},
          {"pageable", copy(study->pageable)},
          {"chosen", copy(study->chosen)},
          {"saved_seconds_per_trip", study->saved_per_trip()},
          {"trips_to_pay", trips}};
}

Value copy_json(const std::optional<CopyBandwidth>& copy) {
  if (!copy) {
    return nullptr;
  }
  return {{"memcpy_bytes_per_second", copy->memcpy_bytes_per_second},
          {"streaming_bytes_per_second", copy->streaming_bytes_per_second},
          {"array_bytes", copy->array_bytes},
          {"threads", copy->threads}};
}

Value field_json(const std::optional<FieldFacts>& field) {
  if (!field) {
    return nullptr;
  }
  return {{"steps", field->steps},
          {"sha256", field->sha256},
          {"min", field->summary.min},
          {"max", field->summary.max},
          {"sum", field->summary.sum},
          {"nonfinite", field->summary.nonfinite},
          {"denormal", field->summary.denormal}};
}

Value denormals_json(const std::optional<DenormalCost>& cost) {
  if (!cost) {
    return nullptr;
  }
  return {{"share", cost->share}, {"slowdown", cost->slowdown}};
}

/// Those that a ledger without room for all shows: the baseline, and the ends of what a port gains.
std::vector<std::string> telling_rows(const ComparisonResult& result) {
  const auto on_device = [](const Row& row) { return row.on_device(); };
  const Row* naive = nullptr;
  for (const Row& row : result.rows) {
    if (row.ranked() && row.roundtrip_every > 0 &&
        (naive == nullptr || row.step_seconds() > naive->step_seconds())) {
      naive = &row;
    }
  }
  std::vector<std::string> names{result.baseline};
  for (const Row* row : {best_cpu(result), fastest(result, on_device), naive}) {
    if (row != nullptr && std::ranges::find(names, row->name) == names.end()) {
      names.push_back(row->name);
    }
  }
  return names;
}

} // namespace

std::vector<Picture> row_pictures(const ComparisonResult& result, const std::string& rows) {
  std::vector<Picture> pictures{{"Time of a step", Figure::bars, "backend", "seconds_per_iteration",
                                 "device", "y", rows, "seconds_per_iteration_interval"},
                                {"Where the time goes in a warm run", Figure::stack, "backend",
                                 "phases", "", "", rows, "", telling_rows(result)},
                                {"Where the time goes in a cold run", Figure::stack, "backend",
                                 "end_to_end.cold_phases", "", "", rows, "", telling_rows(result)},
                                {"The samples, in the order in which they were taken",
                                 Figure::lines, "sample", "samples_seconds", "backend", "y", rows}};
  for (const char* run : {"cold", "warm"}) {
    if (std::ranges::any_of(result.rows, [](const Row& row) { return row.moments.has_value(); })) {
      pictures.push_back({fmt::format("The first {} run, moment by moment", run), Figure::timeline,
                          "backend", fmt::format("moments.{}", run), "", "", rows});
    }
  }
  return pictures;
}

Value interval_json(const std::optional<Interval>& interval) {
  if (!interval) {
    return nullptr;
  }
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Value width_json(const std::optional<Width>& width) {
  return width ? Value({{"low", width->low}, {"high", width->high}}) : Value();
}

Value width_json(std::span<const Sample> samples, std::span<const Sample> reference) {
  if (!disturbed(samples) && !disturbed(reference)) {
    return nullptr;
  }
  const Width time = width_of(samples).value_or(Width());
  const Width other = width_of(reference).value_or(Width());
  return width_json(Width{.low = time.low / other.high, .high = time.high / other.low});
}

Value provenance_json(const Provenance& provenance) {
  Value json = {{"threads", provenance.threads}};
  for (const auto& [name, value] : provenance.facts()) {
    json[name] = value;
  }
  return json;
}

Value problem_json(const ComparisonResult& result) {
  const Problem& problem = result.problem;
  return {{"nx", problem.nx},
          {"ny", problem.ny},
          {"iterations", result.iterations},
          {"spacing", problem.spacing},
          {"diffusivity", problem.diffusivity},
          {"dt", problem.dt},
          {"diffusion_number", problem.diffusion_number()},
          {"boundary", to_string(problem.boundary)},
          {"boundary_value", problem.boundary_value},
          {"dtype", to_string(problem.dtype)},
          {"init", to_string(result.initial)},
          {"seed", result.initial.seed},
          {"bytes_per_step", problem.bytes_per_step()},
          {"flops_per_step", problem.flops_per_step()}};
}

SampleSeries sample_series(const Problem& problem, const Row& row, std::string_view family) {
  return {.name = fmt::format("{}/{}/{}/{}x{}", family, row.name, to_string(problem.dtype),
                              problem.nx, problem.ny),
          .threads = row.provenance.threads,
          .samples = row.samples,
          .per_iteration = {{"cells_per_second", static_cast<double>(problem.cells())},
                            {"bytes_per_second", static_cast<double>(problem.bytes_per_step())}}};
}

Value to_json(const ComparisonResult& result) {
  return {
      {"problem", problem_json(result)},
      {"baseline", result.baseline},
      {"budget_seconds", result.budget_seconds},
      {"copy", copy_json(result.copy)},
      {"results", Value::each(result.rows, [&](const Row& row) { return row_json(result, row); })},
      {"transfers", transfers_json(result.transfers)},
      {"field", field_json(result.field)},
      {"denormals", denormals_json(result.denormals)},
      {"telemetry", telemetry_json(result.telemetry)},
      {"peak_host_bytes", result.peak_host_bytes}};
}

} // namespace diffbench::bench
