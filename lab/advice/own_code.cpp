// SPDX-License-Identifier: Apache-2.0
#include "own_code.hpp"

#include "card_answer.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/quantity.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

/// A number of the code, and its option as its usage has it.
struct Quantity {
  const char* option;
  double OwnCode::*value;
  double low, high;
  bool above_low; ///< the low end itself is not taken
  const char* limits;
  const char* help;
};
constexpr std::array quantities{
    Quantity{"--bytes-per-cell B", &OwnCode::bytes_per_cell, 0, 1e6, true, "above 0, up to 1000000",
             "bytes that a step reads and writes for a cell"},
    Quantity{"--flops-per-cell F", &OwnCode::flops_per_cell, 0, 1e9, false, "0 to 10^9",
             "operations of a step for a cell"},
    Quantity{"--cells N", &OwnCode::cells, 256, 1e15, false, "256 to 10^15",
             "cells of the grid, such as 1e8"},
    Quantity{"--copies-per-step C", &OwnCode::copies_per_step, 0, 1000, false, "0 to 1000",
             "copies of the field in a step, both ways counted: 2 is there and back in every step, "
             "0.02 every 100 steps, 0 none"}};
/// Without these a code is not described; copies and steps of a launch have a usual number.
constexpr std::array needed{"--step", "--bytes-per-cell", "--flops-per-cell", "--cells"};
constexpr const char* own_group = "A code of your own, in the place of the program's backends";
constexpr double shortest_step = 1e-9, longest_step = 1e6;
constexpr const char* step_limits = "1ns to 1000000s";

double step_of(std::string_view option, const std::string& text) {
  const auto seconds = parse_quantity(text, time_units);
  if (!seconds || !(*seconds >= shortest_step && *seconds <= longest_step)) {
    throw InvalidInput(fmt::format(
        "{} {}: give the time of a step with its unit (ns, us, ms, s), such as 12ms ({})", option,
        text, step_limits));
  }
  return *seconds;
}

double number_of(const Quantity& quantity, std::string_view option, const std::string& text) {
  const double number = parse_number<double>(text).value_or(std::nan(""));
  if (!(std::isfinite(number) && number <= quantity.high &&
        (quantity.above_low ? number > quantity.low : number >= quantity.low))) {
    throw InvalidInput(fmt::format("{} {}: give a number ({})", option, text, quantity.limits));
  }
  return number;
}

void check_own_code(OptionList& options, OwnCode& code) {
  const std::vector<std::string> names = options.given_names(own_group);
  code.given = !names.empty();
  if (!code.given) {
    return;
  }
  for (const char* other : {"--grid", "--backend", "--threads", "--budget"}) {
    if (options.given(other)) {
      throw InvalidInput(
          fmt::format("{} and {}: the one is of the program's own backends, the "
                      "other of a code that is not; give one",
                      other, names.front()));
    }
  }
  std::vector<std::string_view> missing;
  std::ranges::copy_if(needed, std::back_inserter(missing),
                       [&](const char* option) { return !options.given(option); });
  if (!missing.empty()) {
    throw InvalidInput(
        fmt::format("{} needs {} beside it", names.front(), fmt::join(missing, ", ")));
  }
}

Value code_json(const OwnCode& code) {
  return {{"step_seconds", code.step_seconds},       {"bytes_per_cell", code.bytes_per_cell},
          {"flops_per_cell", code.flops_per_cell},   {"cells", code.cells},
          {"copies_per_step", code.copies_per_step}, {"steps_per_launch", code.steps_per_launch}};
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
                            quantity.value == &OwnCode::copies_per_step ? "0" : ""),
                  [&code, &quantity](std::string_view option, const std::string& text) {
                    code.*quantity.value = number_of(quantity, option, text);
                  });
  }
  options.integer("--steps-per-launch K", code.steps_per_launch, {1, most_per_launch},
                  "steps that one of its kernels may take");
  options.check([&options, &code] { check_own_code(options, code); });
}

LabReport own_code_report(const OwnCode& code, Dtype dtype, std::int64_t iterations,
                          const AssumedCard& card) {
  const auto steps = static_cast<double>(iterations);
  // Half of the bytes are the field that a copy moves, as they are read and written once.
  const AdvisedRun run{.work = {.dtype = dtype,
                                .bytes = code.bytes_per_cell,
                                .copied_bytes = code.bytes_per_cell / 2,
                                .operations = code.flops_per_cell,
                                .per_launch = code.steps_per_launch},
                       .cells = code.cells,
                       .steps = steps,
                       .trips = std::max(1.0, steps * code.copies_per_step / 2),
                       .like = "like ",
                       .in_cells = true};
  LabReport report;
  report.text = fmt::format(
      "your code: {:g} cells, {} a step on the CPU (measured by you), {:g} bytes and {:g} "
      "operations in {} a cell and step;\n{} iterations, {}\n"
      "like cuda_stream: a launch a step from the host; like cuda_graph: the same from a "
      "graph{}\n",
      code.cells, format_seconds(code.step_seconds), code.bytes_per_cell, code.flops_per_cell,
      to_string(dtype), iterations,
      code.copies_per_step > 0
          ? fmt::format("{:g} copies of the field a step", code.copies_per_step)
          : "the field stays on the card",
      code.steps_per_launch > 1
          ? fmt::format("; like cuda: {} steps a launch", code.steps_per_launch)
          : "");
  report.data = {{"own_code", code_json(code)},
                 {"iterations", iterations},
                 {"dtype", to_string(dtype)},
                 {"ways", Value::list()}};
  report.rows = Value::list();
  const std::array cpu{CpuStep{256, code.step_seconds * 256 / code.cells}};
  append_answer(report, card, run, cpu,
                {.card = card,
                 .runs = {},
                 .bytes = code.bytes_per_cell * code.cells,
                 .what = fmt::format("{:g} bytes a cell", code.bytes_per_cell),
                 .rival = Rival{"your code", steps * code.step_seconds},
                 .whole = true,
                 .ledger = true},
                {});
  CellWork one_operation = run.work;
  one_operation.operations = 1;
  const Assumption each = instructions_of(one_operation);
  report.notes = {
      "the time on the CPU is taken to grow with the cells and the steps; measure it at the size "
      "that you ask about",
      fmt::format("half of the bytes of a cell are taken as the field that a copy moves, and each "
                  "operation as {:.2f} to {:.1f} instructions, like those of the stencil",
                  each.low, each.high)};
  return report;
}

} // namespace diffbench::bench
