// SPDX-License-Identifier: Apache-2.0
// The verb: its options, the checks before any work, and the way from plan to report.
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "peer.hpp"
#include "planning.hpp"
#include "selection.hpp"
#include "sweep_plan.hpp"
#include "sweep_report.hpp"
#include "sweep_run.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

struct SweepState {
  SweptOptions swept;
  SweepPlan plan;
  CrossedRows crossed;
  std::optional<AssumedCard> assumed;
  LabOutput output;
};

CrossedRows parse_crossed(std::string_view option, const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == 0 || comma == std::string::npos || comma + 1 == text.size() ||
      text.find(',', comma + 1) != std::string::npos) {
    throw InvalidInput(
        fmt::format("{} {}: give two rows with a comma between, such as fused,simd", option, text));
  }
  CrossedRows rows{.champion = text.substr(0, comma), .challenger = text.substr(comma + 1)};
  if (rows.champion == rows.challenger) {
    throw InvalidInput(fmt::format("{} {}: give two different rows", option, text));
  }
  return rows;
}

/// The rows of a combination. Emulated ones are never timed, so only those asked for by name run.
std::vector<PlannedRow> planned_rows_of(const RowPlan& plan) {
  std::vector<PlannedRow> planned_rows = select_backends(plan);
  if (plan.backends.empty()) {
    std::erase_if(planned_rows, [](const PlannedRow& planned) {
      return planned.backend.device == DeviceKind::emulated;
    });
  }
  return planned_rows;
}

/// Refuses before any work what would fail in the middle of the sweep.
void check(const SweepPlan& plan, const CrossedRows& crossed) {
  const std::int64_t memory = available_memory();
  for (const Combination& combination : plan.combinations) {
    const std::vector<PlannedRow> planned_rows = planned_rows_of(combination.run);
    check_memory(combination.run.problem, planned_rows, combination.run.peers.size(), memory);
    for (const std::string& name : {crossed.champion, crossed.challenger}) {
      auto is_row = [&](const PlannedRow& planned) { return planned.row_name() == name; };
      const auto& peers = combination.run.peers;
      if (!name.empty() && std::ranges::none_of(planned_rows, is_row) &&
          std::ranges::none_of(
              peers, [&](const std::string& peer) { return peer_row_name(peer) == name; })) {
        throw InvalidInput(fmt::format("--cross: no row of this sweep is called {}", name));
      }
    }
  }
  for (const std::string& name : plan.combinations.front().run.peers) {
    if (const Probe probe = probe_peer(name); !probe.available) {
      throw Unavailable(fmt::format("--peer {}: {}", name, probe.reason));
    }
  }
}

LabReport measure_sweep(const SweepState& typed, Progress& progress) {
  const SweepPlan& plan = typed.plan;
  const std::vector<SweepPoint> points = run_sweep(
      plan,
      [](const ComparisonPlan& run, Progress& shown) {
        return measure(run, planned_rows_of(run), shown);
      },
      progress);
  if (points.empty() && interrupted()) {
    throw Interrupted();
  }
  LabReport report = sweep_report(plan, points, typed.crossed);
  if (typed.assumed) {
    append_assumed_curve(report, *typed.assumed, points);
  }
  if (const auto note = note_on_left_out(plan.combinations.front().run)) {
    report.notes.push_back(*note);
  }
  return report;
}

} // namespace

Action declare_sweep(OptionList& options) {
  const auto state = std::make_shared<SweepState>();
  options.add(state->swept.list);
  options.group("Sweep");
  options.value("--cross A,B",
                "rows: where B begins to beat A (default: the best CPU row, the best GPU row)",
                [&crossed = state->crossed](std::string_view option, const std::string& text) {
                  crossed = parse_crossed(option, text);
                });
  declare_assume(options, state->assumed);
  options.check([&state = *state] { state.plan = plan_sweep(state.swept); });
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    check(state->plan, state->crossed);
    double seconds = 0;
    for (const auto& [values, run] : state->plan.combinations) {
      seconds += expected_seconds(run.budget_seconds, run.budget_binds,
                                  std::ssize(planned_rows_of(run)) + std::ssize(run.peers),
                                  static_cast<double>(run.problem.cells()), run.iterations);
    }
    const ComparisonPlan& first = state->plan.combinations.front().run;
    state->output.expect(
        first.budget_binds ? state->plan.budget_seconds : seconds,
        fmt::format("{}, {}", counted(std::ssize(state->plan.combinations), "combination"),
                    limit_text(state->plan.budget_seconds, first.budget_binds)),
        first.budget_binds);
    return run_experiment("sweep", state->output, invocation,
                          [&](Progress& progress) { return measure_sweep(*state, progress); });
  };
}

} // namespace diffbench::bench
