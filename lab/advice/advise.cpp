// SPDX-License-Identifier: Apache-2.0
// `diffbench advise`: which backend for a run, from few of its steps; and whether a card would pay
// that is not here.
#include "card_answer.hpp"
#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "own_code.hpp"
#include "planning.hpp"
#include "report_json.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

/// The card where a code of one's own names none.
constexpr const char* usual_card = "h200";
/// Steps that are measured: of so many cells together, and at least so many, since some backends
/// take several a sweep.
constexpr double measured_cells = 2e8, fewer_cells = 2e7;
constexpr double fewest_steps = 16;
/// Squares that say from which size on a card would pay, each for so many seconds.
constexpr std::array<std::int64_t, 3> other_sides = {64, 512, 2048};
constexpr double other_budget = 0.5;

struct AdviseOptions {
  ComparisonPlan run;
  std::string printed_card; ///< empty: none
  std::optional<AssumedCard> assumed;
  OwnCode own;
  LabOutput output;
};

/// A backend, and what its run would take.
struct Way {
  const Row* row;
  double steps = 1; ///< of the run
  double left = 0;  ///< of these, what was not measured
  [[nodiscard]] double more() const { return left * row->step_seconds(); }
};

std::optional<double> with_more(const std::optional<Phases>& measured, const Way& way) {
  return measured ? std::optional(measured->wall + way.more()) : std::nullopt;
}

/// Of the steps and, where that was measured, of the copies.
double run_seconds(const Way& way) {
  return with_more(way.row->warm, way).value_or(way.steps * way.row->step_seconds());
}

constexpr Column<Way> way_columns[] = {
    {"backend", "backend", as_text, field<&Way::row, &Row::name>},
    {"device", "device", as_text, [](const Way& way) { return Value(way.row->device); }},
    {"threads", "threads", as_text,
     [](const Way& way) { return Value(way.row->provenance.threads); }},
    {"seconds_per_step", "time/iter", as_seconds,
     [](const Way& way) -> Value { return way.row->step_seconds(); }},
    {"warm_seconds", "warm run", as_seconds,
     [](const Way& way) -> Value { return run_seconds(way); }},
    {"cold_seconds", "cold run", as_seconds,
     [](const Way& way) { return Value(with_more(way.row->cold, way)); }},
};

std::int64_t steps_to_measure(const Problem& problem, std::int64_t iterations, double cells) {
  const double steps = std::max(fewest_steps, cells / static_cast<double>(problem.cells()));
  return std::min(iterations, static_cast<std::int64_t>(std::min(steps, 1e9)));
}

ComparisonResult measure_steps(ComparisonPlan plan, double cells, Progress& progress) {
  plan.iterations = steps_to_measure(plan.problem, plan.iterations, cells);
  std::vector<PlannedRow> rows = select_backends(plan);
  check_memory(plan.problem, rows, 0, available_memory());
  return measure(plan, rows, progress);
}

std::vector<Way> ways_of(const ComparisonResult& result, std::int64_t iterations) {
  std::vector<Way> ways;
  for (const Row& row : result.rows) {
    if (row.ranked()) {
      ways.push_back({&row, static_cast<double>(iterations),
                      static_cast<double>(iterations - result.iterations)});
    }
  }
  std::ranges::stable_sort(ways, {}, run_seconds);
  return ways;
}

std::string sentence_of(const std::vector<Way>& ways) {
  const Way& best = ways.front();
  std::string text = fmt::format("{} would be the fastest here: {}", best.row->name,
                                 format_seconds(run_seconds(best)));
  const auto other = std::ranges::find_if(
      ways, [&](const Way& way) { return way.row->on_device() != best.row->on_device(); });
  if (other != ways.end()) {
    text += fmt::format(", {:.3g} times as fast as {}", run_seconds(*other) / run_seconds(best),
                        other->row->name);
  }
  return text + ".";
}

/// What a step takes by the fastest backend of the CPU.
std::optional<CpuStep> cpu_step_of(const ComparisonResult& result) {
  const Row* row = fastest(result, [](const Row& one) { return !one.on_device(); });
  return row == nullptr ? std::nullopt
                        : std::optional(CpuStep{static_cast<double>(result.problem.cells()),
                                                row->step_seconds()});
}

void add_card(LabReport& report, const AdviseOptions& typed, const ComparisonResult& result,
              const std::vector<Way>& ways, Progress& progress) {
  const Problem& problem = typed.run.problem;
  std::vector<CpuStep> cpu;
  const auto keep = [&](const ComparisonResult& measured) {
    if (const auto step = cpu_step_of(measured)) {
      cpu.push_back(*step);
    }
  };
  keep(result);
  for (const std::int64_t side : other_sides) {
    ComparisonPlan square = typed.run;
    square.problem.nx = square.problem.ny = side;
    square.budget_seconds = std::min(square.budget_seconds, other_budget);
    if (!interrupted() && square.problem.cells() != problem.cells()) {
      keep(measure_steps(square, fewer_cells, progress));
    }
  }
  std::ranges::sort(cpu, {}, &CpuStep::cells);
  AssumedRuns shown{.card = *typed.assumed,
                    .runs = {},
                    .bytes = device_bytes(problem),
                    .whole = true,
                    .ledger = true};
  const auto best =
      std::ranges::find_if(ways, [](const Way& way) { return !way.row->on_device(); });
  if (best != ways.end()) {
    shown.rival =
        Rival{best->row->name, run_seconds(*best), width_of(best->row->samples).value_or(Width())};
  }
  append_answer(report, *typed.assumed,
                {.work = stencil_work(problem.dtype),
                 .cells = static_cast<double>(problem.cells()),
                 .steps = static_cast<double>(typed.run.iterations)},
                cpu, shown, result);
}

LabReport run_advise(const AdviseOptions& typed, Progress& progress) {
  const Problem& problem = typed.run.problem;
  const ComparisonResult result = measure_steps(typed.run, measured_cells, progress);
  const std::vector<Way> ways = ways_of(result, typed.run.iterations);
  LabReport report;
  report.text = fmt::format("predicted: {}x{} {}, {} iterations, from {} that were measured\n\n{}",
                            problem.nx, problem.ny, to_string(problem.dtype), typed.run.iterations,
                            result.iterations, format_rows(way_columns, ways));
  report.figures = report.text;
  report.sentence = ways.empty() ? "" : sentence_of(ways);
  report.data = {{"nx", problem.nx},
                 {"ny", problem.ny},
                 {"iterations", typed.run.iterations},
                 {"measured_iterations", result.iterations},
                 {"dtype", to_string(problem.dtype)},
                 {"ways", list_of(way_columns, ways)}};
  report.pictures = {
      {"Time of a run", Figure::bars, "backend", "warm_seconds cold_seconds", "", "y", "ways"}};
  report.rows = report.data.find("ways");
  for (const Way& way : ways) {
    report.series.push_back(sample_series(problem, *way.row, "advise"));
  }
  report.notes = troubles(result);
  report.interrupted = result.interrupted;
  report.outcome = outcome_of(result);
  if (typed.assumed) {
    add_card(report, typed, result, ways, progress);
  }
  return report;
}

/// Of what is measured in all.
double seconds_expected(const AdviseOptions& typed, std::int64_t rows) {
  const auto seconds = [&](const Problem& problem, double budget, double cells) {
    const auto all = static_cast<double>(problem.cells());
    return expected_seconds(budget, typed.run.budget_binds, rows, all,
                            steps_to_measure(problem, typed.run.iterations, cells));
  };
  double sum = seconds(typed.run.problem, typed.run.budget_seconds, measured_cells);
  for (const std::int64_t side : typed.assumed ? other_sides : decltype(other_sides){}) {
    Problem square = typed.run.problem;
    square.nx = square.ny = side;
    sum += seconds(square, other_budget, fewer_cells);
  }
  return sum;
}

void refuse_contradictions(const OptionList& options) {
  for (const std::string& other : options.given_names()) {
    if (options.given("--print-card") && other != "--print-card" && other != "--no-progress") {
      throw InvalidInput(fmt::format(
          "--print-card and {}: a card is printed, and nothing predicted; give one", other));
    }
  }
}

} // namespace

Action declare_advise(OptionList& options) {
  const auto typed = std::make_shared<AdviseOptions>();
  ComparisonPlan& run = typed->run;
  run.copy_roof = run.prove_fields = false;
  run.budget_seconds = 5;
  options.group("The run");
  declare_grid(options, run.problem);
  declare_iterations(options, run.iterations);
  declare_dtype(options, run.problem.dtype);
  declare_backends(options, run.backends, "backend to measure, may be repeated (default: all)");
  declare_threads(options, run.session.threads, "for threaded backends", "the usable CPUs");
  declare_budget(options, run.budget_seconds, run.budget_binds);
  declare_own_code(options, typed->own);
  options.group("Prediction");
  declare_assume(options, typed->assumed);
  options.text("--print-card CARD", typed->printed_card,
               "print that assumed card as a file to change into one of your own, and predict "
               "nothing");
  typed->output.declare(options);
  options.check([&options] { refuse_contradictions(options); });
  return [typed](const Invocation& invocation) {
    if (!typed->printed_card.empty()) {
      write_text(invocation.out, built_in_card_text(typed->printed_card));
      return exit_ok;
    }
    if (typed->own.given) {
      return run_experiment("advise", typed->output, invocation, [&](Progress&) {
        return own_code_report(typed->own, typed->run.problem.dtype, typed->run.iterations,
                               typed->assumed.value_or(find_assumed_card(usual_card)));
      });
    }
    const auto rows = std::ranges::count_if(
        select_backends(typed->run), [](const PlannedRow& row) { return row.probe.available; });
    typed->output.expect(seconds_expected(*typed, rows),
                         fmt::format("{}, few steps of each", counted(rows, "backend")));
    return run_experiment("advise", typed->output, invocation,
                          [&](Progress& progress) { return run_advise(*typed, progress); });
  };
}

} // namespace diffbench::bench
