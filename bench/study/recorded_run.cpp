// SPDX-License-Identifier: Apache-2.0
#include "recorded_run.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "result_file.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// Text as it is, anything else as JSON; "" for what is not there.
std::string plain_text(const ordered_json& value) {
  if (value.is_string()) {
    return one_line(value.get<std::string>(), '?');
  }
  return value.is_null() ? "" : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string text_of(const ordered_json& value, std::string_view name) {
  return plain_text(member(value, name));
}

/// Empty unless it is a number above 0.
std::optional<double> positive(const ordered_json& value) {
  if (!value.is_number() || !(value.get<double>() > 0)) {
    return std::nullopt;
  }
  return value.get<double>();
}

Facts all_of(const ordered_json& object) {
  Facts facts;
  for (const auto& [name, value] : object.items()) {
    facts.emplace_back(one_line(name, '?'), plain_text(value));
  }
  return facts;
}

/// The names are ours and Google Benchmark's. What differs from run to run in any case (the date,
/// the free memory) is not among them.
Facts machine_of(const ordered_json& context) {
  static constexpr std::array names{"host_name",
                                    "cpu_model",
                                    "num_cpus",
                                    "usable_cpus",
                                    "mhz_per_cpu",
                                    "isa",
                                    "cpu_scaling_enabled",
                                    "governor",
                                    "os",
                                    "kernel",
                                    "cuda",
                                    "gpu_name",
                                    "cuda_runtime",
                                    "cuda_driver",
                                    "compiler",
                                    "flags",
                                    "build_type",
                                    "library_build_type",
                                    "diffbench_version",
                                    "git_sha"};
  Facts facts;
  for (const char* name : names) {
    if (std::string text = text_of(context, name); !text.empty()) {
      facts.emplace_back(name, std::move(text));
    }
  }
  return facts;
}

/// Google Benchmark's unit; its default where there is none.
std::optional<double> unit_seconds(const ordered_json& entry) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
  const std::string name = text_of(entry, "time_unit");
  if (name.empty()) {
    return units.front().second;
  }
  const auto unit = std::ranges::find(units, name, [](const auto& each) { return each.first; });
  return unit == units.end() ? std::nullopt : std::optional(unit->second);
}

bool is_aggregate(const ordered_json& entry) { return text_of(entry, "run_type") == "aggregate"; }

/// The row of that name, made when it is new.
RecordedRow& row_of(std::vector<RecordedRow>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &RecordedRow::name);
  return found == rows.end() ? rows.emplace_back(RecordedRow{.name = name, .seconds = {}}) : *found;
}

std::vector<RecordedRow> rows_of_benchmarks(const ordered_json& benchmarks) {
  std::vector<RecordedRow> rows;
  for (const ordered_json& entry : benchmarks) {
    if (is_aggregate(entry)) {
      continue;
    }
    const std::string run_name = text_of(entry, "run_name");
    const std::string name = run_name.empty() ? text_of(entry, "name") : run_name;
    if (name.empty()) {
      continue;
    }
    RecordedRow& row = row_of(rows, name);
    const auto time = positive(member(entry, "real_time"));
    const auto unit = unit_seconds(entry);
    if (member(entry, "error_occurred") == true || member(entry, "skipped") == true) {
      row.trouble = text_of(entry, "error_message") + text_of(entry, "skip_message");
    } else if (time && unit) {
      row.seconds.push_back(*time * *unit);
    }
  }
  return rows;
}

/// A row for each result, since two of one command may differ in what only --setup or --prepare is
/// told: by its parameters and, of equal ones, a number.
std::vector<RecordedRow> rows_of_hyperfine(const ordered_json& results) {
  std::vector<RecordedRow> rows;
  for (const ordered_json& result : results) {
    std::string name = text_of(result, "command");
    for (const auto& [parameter, value] : all_of(member(result, "parameters"))) {
      name += fmt::format(" ({}={})", parameter, value);
    }
    const auto taken = [&](const std::string& each) {
      return std::ranges::find(rows, each, &RecordedRow::name) != rows.end();
    };
    const std::string first = name;
    for (int number = 2; taken(name); ++number) {
      name = fmt::format("{} #{}", first, number);
    }
    RecordedRow& row = rows.emplace_back(RecordedRow{.name = name, .seconds = {}});
    for (const ordered_json& time : member(result, "times")) {
      if (const auto seconds = positive(time)) {
        row.seconds.push_back(*seconds);
      }
    }
    row.trouble = row.seconds.empty() ? "it has no time" : "";
  }
  return rows;
}

/// Of a CPU for each of its threads, what a row on the CPU got, by the processor times of its
/// samples; 1 where they are not known.
double cpu_share(const ordered_json& json, const std::string& backend) {
  const std::string begin = fmt::format("stencil/{}/", backend);
  double wall = 0;
  double cpu = 0;
  for (const ordered_json& entry : member(json, "benchmarks")) {
    const auto real_time = positive(member(entry, "real_time"));
    const auto cpu_time = positive(member(entry, "cpu_time"));
    const auto threads = positive(member(entry, "threads"));
    if (text_of(entry, "name").starts_with(begin) && !is_aggregate(entry) && real_time &&
        cpu_time && threads && member(entry, "cpu_time_is_wall_time") == 0) {
      wall += *real_time * *threads;
      cpu += *cpu_time;
    }
  }
  return wall > 0 ? std::min(1.0, cpu / wall) : 1.0;
}

RecordedRow row_of_result(const ordered_json& json, const ordered_json& result) {
  RecordedRow row{.name = text_of(result, "backend"), .seconds = {}};
  const auto iterations = positive(member(result, "iterations_per_sample"));
  for (const ordered_json& sample : member(result, "samples_seconds")) {
    if (const auto seconds = positive(sample); seconds && iterations) {
      row.seconds.push_back(*seconds / *iterations);
    }
  }
  if (row.seconds.empty()) {
    const std::string reason = text_of(result, "reason");
    row.trouble = reason.empty() ? "it has no time" : reason;
  }
  // The host of a device may sleep while that works.
  if (text_of(result, "device") == "cpu") {
    row.cpu_share = cpu_share(json, row.name);
  }
  row.provenance = all_of(member(result, "provenance"));
  return row;
}

} // namespace

const RecordedRow* RecordedRun::find(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &RecordedRow::name);
  return found == rows.end() ? nullptr : &*found;
}

RecordedRun recorded_run(const ordered_json& json) {
  const ordered_json& context = member(json, "context");
  RecordedRun run{.disturbed = false,
                  .date = instant_of(text_of(context, "date")),
                  .machine = machine_of(context),
                  .problem = {},
                  .rows = {}};
  const ordered_json& own = member(json, "diffbench");
  run.disturbed = member(own, "disturbed") == true;
  if (const ordered_json& results = member(own, "results"); results.is_array()) {
    run.problem = all_of(member(own, "problem"));
    for (const ordered_json& result : results) {
      if (result.is_object()) {
        run.rows.push_back(row_of_result(json, result));
      }
    }
  } else if (const ordered_json& benchmarks = member(json, "benchmarks"); benchmarks.is_array()) {
    run.rows = rows_of_benchmarks(benchmarks);
  } else {
    run.rows = rows_of_hyperfine(member(json, "results"));
  }
  return run;
}

RecordedRun read_recorded_run(const std::filesystem::path& path) {
  const ordered_json json = read_result_file(path, Origin::any_times);
  RecordedRun run = recorded_run(json);
  if (run.rows.empty()) {
    throw InvalidInput(
        fmt::format("{}: has no row to compare; {}", path.string(),
                    member(json, "diffbench").is_object()
                        ? "give a result of the comparison or of a suite"
                        : "of Google Benchmark, aggregates alone are not enough: run it without "
                          "--benchmark_report_aggregates_only"));
  }
  return run;
}

} // namespace diffbench::bench
