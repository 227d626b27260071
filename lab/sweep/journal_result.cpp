// SPDX-License-Identifier: Apache-2.0
#include "journal_result.hpp"

#include "diffbench/errors.hpp"
#include "json.hpp"
#include "lab_report.hpp"
#include "result_reader.hpp"
#include "sweep_journal.hpp"
#include "sweep_plan.hpp"
#include "sweep_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view what) {
  throw InvalidInput(fmt::format("{}: {}", path.string(), what));
}

SweptAxes swept_axes(const std::filesystem::path& path, const ordered_json& header) {
  SweptAxes swept;
  try {
    swept.options = header.at("options").get<OptionValues>();
  } catch (const ordered_json::exception&) {
    refuse(path, "line 1 is not of a sweep");
  }
  swept.axes = axes_of(swept.options);
  if (static_cast<double>(swept.count()) > max_combinations) {
    refuse(path,
           fmt::format("has more than {:.0f} combinations, as no sweep has", max_combinations));
  }
  return swept;
}

std::string command_of(const SweptAxes& swept) {
  std::string command = "diffbench sweep";
  for (const auto& [option, values] : swept.options) {
    command += fmt::format(" {}{}{}", option, values.empty() ? "" : " ", fmt::join(values, ","));
  }
  return command;
}

} // namespace

ordered_json journal_result(const std::filesystem::path& path) {
  const std::vector<ordered_json> lines = read_sweep_lines(path, Detail::overview);
  const SweptAxes swept = swept_axes(path, lines.front());
  const std::vector<SweepPoint> points = sweep_points(path, std::span(lines).subspan(1));
  LabReport report;
  try {
    report = sweep_report(swept, points, {});
  } catch (const InvalidInput& error) {
    refuse(path, error.what());
  }
  if (report.interrupted) {
    report.notes.push_back(
        fmt::format("{} of {} combinations are in this journal: its sweep still "
                    "runs, or was interrupted; --resume goes on",
                    points.size(), swept.count()));
  }
  return {{"context", member(lines.front(), "machine")},
          {"benchmarks", ordered_json::array()},
          {"diffbench", json_of(lab_part("sweep", command_of(swept), report))}};
}

} // namespace diffbench::bench
