// SPDX-License-Identifier: Apache-2.0
#include "sweep_rows.hpp"

#include "diffbench/errors.hpp"
#include "peer.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

std::optional<double> optional_number(const ordered_json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

SweepRow read_row(const ordered_json& json) {
  SweepRow row;
  row.name = json.at("backend").get<std::string>();
  row.device = device_kind_names.parse(json.at("device").get<std::string>());
  row.is_peer = names_peer(row.name);
  const ordered_json& verified = json.at("verified");
  row.wrong = !verified.is_null() && !verified.at("bitwise").get<bool>();
  row.naive = !json.at("roundtrip_every").is_null();
  const ordered_json& reason = json.at("reason");
  if ((row.wrong || json.at("status") == "failed") && reason.is_string()) {
    row.failure = reason.get<std::string>();
  }
  if (row.wrong || json.at("status") != "ok" || json.at("samples_seconds").empty()) {
    return row;
  }
  row.threads = json.at("threads").get<int>();
  for (const ordered_json& seconds : json.at("samples_seconds")) {
    row.samples.push_back({.iterations = json.at("iterations_per_sample").get<std::int64_t>(),
                           .seconds = seconds.get<double>(),
                           .cpu_seconds = {}});
  }
  row.cold_seconds = optional_number(json.at("end_to_end").at("cold_seconds"));
  row.warm_seconds = optional_number(json.at("end_to_end").at("warm_seconds"));
  return row;
}

} // namespace

double SweepRow::median_step() const { return iteration_quartiles(samples).median; }

const SweepRow* SweepRows::find(std::string_view name) const {
  const auto row = std::ranges::find(rows, name, &SweepRow::name);
  return row == rows.end() ? nullptr : &*row;
}

SweepRows read_rows(const SweepPoint& point) {
  try {
    const ordered_json& problem = point.result.at("problem");
    SweepRows rows{.values = point.values,
                   .nx = problem.at("nx").get<std::int64_t>(),
                   .ny = problem.at("ny").get<std::int64_t>(),
                   .iterations = problem.at("iterations").get<std::int64_t>(),
                   .dtype = problem.at("dtype").get<std::string>(),
                   .disturbed = point.result.value("disturbed", false),
                   .rows = {}};
    for (const ordered_json& row : point.result.at("results")) {
      rows.rows.push_back(read_row(row));
    }
    return rows;
  } catch (const ordered_json::exception&) {
    throw InvalidInput(fmt::format("the combination {} holds no result of diffbench",
                                   fmt::join(point.values, ", ")));
  }
}

std::string_view to_string(Measure measure) {
  switch (measure) {
    case Measure::step: return "step";
    case Measure::warm: return "warm run";
    default: return "cold run";
  }
}

std::vector<double> seconds_of(const SweepRow& row, Measure measure, std::int64_t iterations) {
  std::vector<double> seconds;
  for (const Sample& sample : row.samples) {
    seconds.push_back(sample.seconds_per_iteration());
  }
  if (measure == Measure::step || seconds.empty()) {
    return seconds;
  }
  const std::optional<double>& run = measure == Measure::warm ? row.warm_seconds : row.cold_seconds;
  if (!run) {
    return {};
  }
  // By a factor, not a difference: samples may vary by more than the one run took.
  const double median = row.median_step();
  const double steps = std::min(*run, median * static_cast<double>(iterations));
  for (double& step : seconds) {
    step = *run - steps + steps * (step / median);
  }
  return seconds;
}

} // namespace diffbench::bench
