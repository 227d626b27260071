// SPDX-License-Identifier: Apache-2.0
#include "own_code.hpp"

#include "advice.hpp"
#include "assumed_advice.hpp"
#include "assumed_report.hpp"
#include "columns.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/quantity.hpp"
#include "diffbench/small_file.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

using Json = nlohmann::ordered_json;

/// A number of the code: its option, and its member in a file.
struct Quantity {
  const char* option; ///< as its usage has it
  const char* member;
  double OwnCode::*value;
  double low, high;
  bool above_low; ///< the low end itself is not taken
  const char* limits;
  const char* help;

  [[nodiscard]] std::string name() const {
    const std::string usage = option;
    return usage.substr(0, usage.find(' '));
  }
  [[nodiscard]] bool takes(double number) const {
    return std::isfinite(number) && number <= high && (above_low ? number > low : number >= low);
  }
};

constexpr double shortest_step = 1e-9, longest_step = 1e6;
constexpr const char* step_limits = "1ns to 1000000s";
constexpr const char* step_member = "step";
constexpr const char* sweep_member = "steps_per_launch";
constexpr const char* name_member = "name";
constexpr Limits sweep_limits{1, most_per_sweep};

// 256 cells are the smallest grid of the model of the cards.
constexpr std::array quantities{
    Quantity{"--bytes-per-cell B", "bytes_per_cell", &OwnCode::bytes_per_cell, 0, 1e6, true,
             "above 0, up to 1000000", "bytes that a step reads and writes for a cell"},
    Quantity{"--flops-per-cell F", "flops_per_cell", &OwnCode::flops_per_cell, 0, 1e9, false,
             "0 to 10^9", "operations of a step for a cell"},
    Quantity{"--cells N", "cells", &OwnCode::cells, 256, 1e15, false, "256 to 10^15",
             "cells of the grid, such as 1e8"},
    Quantity{"--copies-per-step C", "copies_per_step", &OwnCode::copies_per_step, 0, 1000, false,
             "0 to 1000",
             "copies of the field in a step, both ways counted: 2 is there and back in every step, "
             "0.02 every 100 steps, 0 none"}};
/// Without these a code is not described; copies and steps of a launch have a usual number.
constexpr std::array needed_members{"step", "bytes_per_cell", "flops_per_cell", "cells"};

constexpr const char* own_group = "A code of your own, in the place of the program's backends";

double number_in_limits(std::string_view what, const std::string& shown, const Quantity& quantity,
                        double number) {
  if (!quantity.takes(number)) {
    throw InvalidInput(fmt::format("{} {}: give a number ({})", what, shown, quantity.limits));
  }
  return number;
}

double step_of(std::string_view what, const std::string& text) {
  const auto seconds = parse_quantity(text, time_units);
  if (!seconds || !(*seconds >= shortest_step && *seconds <= longest_step)) {
    throw InvalidInput(fmt::format(
        "{} {}: give the time of a step with its unit (ns, us, ms, s), such as 12ms ({})", what,
        text, step_limits));
  }
  return *seconds;
}

// --- a file --------------------------------------------------------------------------------------

Json json_in(const std::string& path) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    throw InvalidInput("there is no such file; docs/lab.md has one to begin with");
  }
  try {
    return Json::parse(text_of_small_file(path));
  } catch (const Json::exception&) {
    throw InvalidInput("is not JSON");
  }
}

std::vector<std::string> all_members() {
  std::vector<std::string> names{name_member, step_member, sweep_member};
  for (const Quantity& quantity : quantities) {
    names.emplace_back(quantity.member);
  }
  return names;
}

void refuse_other_members(const Json& json) {
  const std::vector<std::string> names = all_members();
  for (const auto& item : json.items()) {
    const bool for_editors = item.key() == "$schema";
    if (!for_editors && std::ranges::find(names, item.key()) == names.end()) {
      throw unknown_name("member", printable(item.key()), names);
    }
  }
  for (const char* needed : needed_members) {
    if (!json.contains(needed)) {
      throw InvalidInput(fmt::format("lacks the member {}", needed));
    }
  }
}

std::string shown(const Json& value) {
  return printable(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

OwnCode code_in(const std::string& path) {
  const Json json = json_in(path);
  if (!json.is_object()) {
    throw InvalidInput(fmt::format("must be an object with {}", fmt::join(needed_members, ", ")));
  }
  refuse_other_members(json);
  OwnCode code;
  const Json& step = json.at(step_member);
  code.step_seconds =
      step_of(step_member, step.is_string() ? printable(step.get<std::string>()) : shown(step));
  for (const Quantity& quantity : quantities) {
    if (json.contains(quantity.member)) {
      const Json& value = json.at(quantity.member);
      code.*quantity.value =
          number_in_limits(quantity.member, shown(value), quantity,
                           value.is_number() ? value.get<double>() : std::nan(""));
    }
  }
  if (json.contains(sweep_member)) {
    const Json& steps = json.at(sweep_member);
    const auto number = steps.is_number_float() ? steps.get<double>() : 0.5;
    code.steps_per_launch = parse_integer(
        sweep_member, number == std::trunc(number) ? fmt::format("{:.0f}", number) : shown(steps),
        sweep_limits); // JSON's 8.0 is a whole number
  }
  if (json.contains(name_member)) {
    const Json& name = json.at(name_member);
    if (!name.is_string() || name.get<std::string>().empty()) {
      throw InvalidInput("name must be a text");
    }
    code.name = printable(name.get<std::string>());
  }
  return code;
}

// --- what contradicts ----------------------------------------------------------------------------

/// Options of advise that mean nothing of a code that is not ours.
constexpr std::array not_of_own{"--grid", "--snapshot-every", "--profile", "--check",
                                "--check-grid"};

void check_own_code(OptionList& options, OwnCode& code) {
  const std::vector<std::string> names = options.given_names(own_group);
  code.given = !names.empty();
  if (!code.given) {
    return;
  }
  const bool from_file = options.given("--kernel");
  if (from_file && names.size() > 1) {
    throw InvalidInput(fmt::format("--kernel and {}: the file has all of a code; give one",
                                   names.front() == "--kernel" ? names.back() : names.front()));
  }
  for (const char* other : not_of_own) {
    if (options.given(other)) {
      throw InvalidInput(
          fmt::format("{} and {}: the one is of the program's own backends, the "
                      "other of a code that is not; give one",
                      other, names.front()));
    }
  }
  std::vector<std::string> missing;
  for (const char* member : needed_members) {
    std::string option = fmt::format("--{}", member);
    std::ranges::replace(option, '_', '-');
    if (!from_file && !options.given(option)) {
      missing.push_back(option);
    }
  }
  if (!missing.empty()) {
    throw InvalidInput(
        fmt::format("{} needs {} beside it", names.front(), fmt::join(missing, ", ")));
  }
}

// --- the answer ----------------------------------------------------------------------------------

/// As if it had been calibrated on the smallest grid alone: from there on its time grows with cells
/// and steps.
WayCost way_of(const OwnCode& code, Dtype dtype) {
  constexpr std::int64_t side = 16;
  const double step = code.step_seconds * static_cast<double>(side * side) / code.cells;
  return {.backend = code.name,
          .dtype = std::string(to_string(dtype)),
          .grids = {{.side = side, .steps = {{1, step}, {1024, 1024 * step}}}}};
}

std::string title_of(const OwnCode& code, Dtype dtype, std::int64_t iterations) {
  const std::string copies =
      code.copies_per_step > 0
          ? fmt::format("{:g} copies of the field a step", code.copies_per_step)
          : "the field stays on the card";
  return fmt::format(
      "{}: {} cells, {} a step on the CPU (measured by you), {:g} bytes and {:g} operations in {} "
      "a cell and step;\n{} iterations, {}\n",
      code.name, cells_text(code.cells), format_seconds(code.step_seconds), code.bytes_per_cell,
      code.flops_per_cell, to_string(dtype), iterations, copies);
}

/// Of the ways that the tables have.
std::string legend_of(const CellWork& work) {
  return fmt::format(
      "like cuda_stream: a launch a step from the host; like cuda_graph: the same from a graph{}\n",
      work.per_sweep > 1 ? fmt::format("; like cuda: {} steps a launch", work.per_sweep) : "");
}

Value code_json(const OwnCode& code) {
  return {{"name", code.name},
          {"step_seconds", code.step_seconds},
          {"bytes_per_cell", code.bytes_per_cell},
          {"flops_per_cell", code.flops_per_cell},
          {"cells", code.cells},
          {"copies_per_step", code.copies_per_step},
          {"steps_per_launch", code.steps_per_launch}};
}

} // namespace

void declare_own_code(OptionList& options, OwnCode& code) {
  options.group(own_group);
  options.value("--step TIME",
                described("what its step takes on this CPU, as you measured it, such as 12ms",
                          step_limits, ""),
                [&code](std::string_view option, const std::string& text) {
                  code.step_seconds = step_of(option, text);
                });
  for (const Quantity& quantity : quantities) {
    options.value(quantity.option,
                  described(quantity.help, quantity.limits,
                            std::string_view(quantity.member) == "copies_per_step" ? "0" : ""),
                  [&code, &quantity](std::string_view option, const std::string& text) {
                    code.*quantity.value = number_in_limits(
                        option, text, quantity, parse_number<double>(text).value_or(std::nan("")));
                  });
  }
  options.integer("--steps-per-launch K", code.steps_per_launch, sweep_limits,
                  "steps that one of its kernels may take");
  options.value("--kernel FILE", "all of these from a JSON file (kernel.schema.json)",
                [&code](std::string_view option, const std::string& path) {
                  code = parse_as(fmt::format("{} {}", option, path), path, code_in);
                });
  options.check([&options, &code] { check_own_code(options, code); });
}

LabReport own_code_report(const OwnCode& code, Dtype dtype, std::int64_t iterations,
                          const AssumedCard& card) {
  const std::vector<WayCost> ways{way_of(code, dtype)};
  const RunShape run{
      .cells = code.cells, .iterations = iterations, .copies_per_step = code.copies_per_step};
  const CellWork work =
      work_of(dtype, code.bytes_per_cell, code.flops_per_cell, code.steps_per_launch);
  const Advice measured = advise(ways, run);
  const double seconds = measured.ways.front().prediction.warm_seconds;
  LabReport report;
  report.text = title_of(code, dtype, iterations) + legend_of(work);
  report.data = {{"own_code", code_json(code)},
                 {"iterations", iterations},
                 {"dtype", to_string(dtype)},
                 {"ways", Value::list({{{"backend", code.name},
                                        {"device", to_string(DeviceKind::cpu)},
                                        {"warm_seconds", seconds},
                                        {"cold_seconds", seconds}}})}};
  report.rows = report.data.find("ways");
  CostProfile as_profile;
  as_profile.ways = ways;
  append_assumed(report, assume_advice(card, ways, work, run), measured, as_profile,
                 {.what = fmt::format("{} bytes a cell", code.bytes_per_cell),
                  .from = fmt::format(", whose run takes {} on the CPU", format_seconds(seconds)),
                  .row = "like ",
                  .in_cells = true});
  const Assumption each = work_of(dtype, code.bytes_per_cell, 1, 1).instructions;
  report.notes = {
      "the time on the CPU is taken to grow with the cells and the steps; measure it at the size "
      "that you ask about",
      fmt::format("half of the bytes of a cell are taken as the field that a copy moves, and each "
                  "operation as {:.2f} to {:.1f} instructions, like those of the stencil",
                  each.low, each.high)};
  return report;
}

} // namespace diffbench::bench
