// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace diffbench::bench {

namespace {

std::string format_baseline(const ComparisonResult& result) {
  const Row* baseline = result.find(result.baseline);
  if (baseline == nullptr) {
    return fmt::format("baseline: {} is not in this run\n", result.baseline);
  }
  return fmt::format("baseline: {}{}\n", result.baseline,
                     baseline->ranked() ? "" : " (it has no verified time in this run)");
}

struct Trouble {
  std::string kind;
  std::string what;
};

/// Why a row did not come to a time, or how wrong its result is; nothing for one that is in order.
std::optional<Trouble> trouble_of(const ComparisonResult& result, const Row& row) {
  if (row.status != Status::ok) {
    return Trouble{std::string(to_string(row.status)), row.reason};
  }
  if (row.wrong() && !row.reason.empty()) { // no fault of the row
    return Trouble{"not verified", row.reason};
  }
  if (row.wrong()) {
    return Trouble{"NOT VERIFIED", describe_wrong(*row.verification, result.problem)};
  }
  const std::string proof = row.verified() && !row.verification->bitwise
                                ? format_verified(result, row) + " of the reference"
                                : "verified";
  if (row.emulated()) {
    return Trouble{"emulated",
                   proof + ", not timed: the time of an emulation says nothing about a GPU"};
  }
  if (row.oversubscribed()) {
    return Trouble{"oversubscribed",
                   proof + ", not timed: more threads than CPUs take turns, correctness only"};
  }
  return std::nullopt;
}

std::string format_machine(const ComparisonResult& result) {
  std::string text =
      fmt::format("\nmachine: {}, {} usable CPUs, {}", fact(result.context, "cpu_model"),
                  fact(result.context, "usable_cpus"), fact(result.context, "isa"));
  if (result.copy) {
    text += fmt::format(", copy {} GB/s", format_figure(result.copy->best() / 1e9));
  }
  return text + "\n";
}

} // namespace

std::string format_title(const ComparisonResult& result) {
  const Problem& problem = result.problem;
  return fmt::format("{}x{} {}, {} iterations, {} boundary, init {}, D {}, dt {}, h {}\n\n",
                     problem.nx, problem.ny, to_string(problem.dtype), result.iterations,
                     to_string(problem.boundary), to_string(result.initial), problem.diffusivity,
                     problem.dt, problem.spacing);
}

std::vector<const Row*> fastest_last(const ComparisonResult& result) {
  std::vector<const Row*> rows;
  for (const Row& row : result.rows) {
    if (row.status != Status::skipped) {
      rows.push_back(&row);
    }
  }
  const auto seconds = [](const Row* row) {
    return row->ranked() ? *seconds_per_iteration(*row) : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(rows, std::greater(), seconds);
  return rows;
}

Value median_value(const Row& row) {
  return row.ranked() ? Value(iteration_quartiles(row.samples).median) : Value();
}

Value spread_value(const Row& row) {
  return row.ranked() ? Value(relative_spread(row.samples)) : Value();
}

std::string format_verified(const ComparisonResult& result, const Row& row) {
  if (row.status == Status::failed) {
    return "failed";
  }
  if (!row.verification) {
    return no_value;
  }
  const Verification& verification = *row.verification;
  const std::string where = verification.steps == result.iterations
                                ? ""
                                : fmt::format(" after {} steps", verification.steps);
  if (verification.within_ulps) {
    return fmt::format("within {} ulp{}", *verification.within_ulps, where);
  }
  return (verification.bitwise ? "yes" : "NO") + where;
}

std::string format_troubles(const ComparisonResult& result) {
  std::string text;
  std::string names;
  std::optional<Trouble> last;
  auto finish_line = [&] {
    if (last) {
      text += fmt::format("{}: {}: {}\n", last->kind, names, last->what);
    }
  };
  for (const Row& row : result.rows) {
    const std::optional<Trouble> trouble = trouble_of(result, row);
    if (trouble && last && trouble->kind == last->kind && trouble->what == last->what) {
      names += ", " + row.name;
      continue;
    }
    finish_line();
    last = trouble;
    names = row.name;
  }
  finish_line();
  return text.empty() ? text : "\n" + text;
}

std::string format_tables(const ComparisonResult& result) {
  return format_title(result) + format_figures(result) + format_baseline(result) +
         format_proofs(result) + format_costs(result) + format_telemetry(result) +
         format_ledger(result) + format_speedups(result) + format_transfers(result) +
         format_troubles(result) + format_machine(result);
}

} // namespace diffbench::bench
