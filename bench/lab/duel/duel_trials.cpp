// SPDX-License-Identifier: Apache-2.0
// Duels of a thing with itself and with slower ones, for the self-test: a RunDuelTrials. Each kind
// of duel, and the comparison until it is decided, is given something whose slowdown is known.
#include "duel/duel_trials.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "duel/blocks.hpp"
#include "duel/sides.hpp"
#include "duel/step_sides.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "outcome.hpp"
#include "row_order.hpp"
#include "selection.hpp"
#include "selftest_trials.hpp"
#include "temporary_directory.hpp"
#include "trial_tally.hpp"
#include "try/starting_file.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr const char* duelled_backend = "fused";
constexpr double command_seconds = 0.02;

using Rows = std::span<const TrialRow>;

RunDuel duel_of(RunBlock run) {
  return [run = std::move(run)](double seconds, std::uint64_t seed) {
    std::vector<Duel> duels{{.label = "", .run = run}};
    const Stopwatch watch;
    if (!run_blocks(
            duels, VerdictRule{}, {.seconds = seconds}, seed, [&] { return watch.seconds(); },
            [] {})) {
      throw Interrupted();
    }
    return DuelOutcome{.ratio = duels.front().standing.ratio,
                       .blocks = std::ssize(duels.front().blocks)};
  };
}

std::string loop_command(std::int64_t turns) {
  return fmt::format("sh -c 'i=0; while [ $i -lt {} ]; do i=$((i+1)); done'", turns);
}

/// Median seconds of a loop of so many turns, sh's start included.
double seconds_of_loop(std::int64_t turns) {
  const Command command{.text = loop_command(turns)};
  const CommandSides sides(command, command, {.limit_seconds = 60});
  std::array<double, 9> seconds{};
  std::ranges::generate(seconds, [&] { return sides.run(Side::a).seconds; });
  return median_of({seconds.begin(), seconds.end()});
}

/// Loops of a shell that take so much longer as is planted, sh's start included.
std::vector<RunDuel> command_duels(Rows rows, double seconds) {
  constexpr std::int64_t many = 100'000;
  const double start = seconds_of_loop(0);
  const double turn = (seconds_of_loop(many) - start) / static_cast<double>(many);
  std::vector<RunDuel> duels;
  for (const TrialRow& row : rows) {
    const auto turns = [&](double loop_seconds) {
      return static_cast<std::int64_t>(std::max(1.0, (loop_seconds - start) / turn));
    };
    const auto sides = std::make_shared<const CommandSides>(
        Command{.text = loop_command(turns(command_seconds))},
        Command{.text = loop_command(turns(command_seconds * (1 + row.slowdown)))},
        CommandSettings{.limit_seconds = 60});
    const int pairs = affordable_pairs(command_seconds * (2 + row.slowdown), seconds);
    duels.push_back(duel_of([sides, pairs](Side first) {
      return block_of_runs(first, pairs, [&](Side side) { return sides->run(side); });
    }));
  }
  return duels;
}

/// What a newcomer writes, and a busy wait of a fraction of its time.
void write_slowed(const std::filesystem::path& path, const std::string& text, double slowdown) {
  write_atomically(path, [&](std::ostream& out) {
    out << "#include <ctime>\n#define step step_alone\n"
        << text << "#undef step\n"
        << R"(static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
void step(const float* u, float* out, int nx, int ny, float factor) {
  const double begin = now();
  step_alone(u, out, nx, ny, factor);
  const double end = begin + (now() - begin) * )"
        << fmt::format("{}", 1 + slowdown) << ";\n  while (now() < end) {\n  }\n}\n";
  });
}

std::vector<RunDuel> file_duels(Rows rows, const std::filesystem::path& place, Progress& progress) {
  const std::filesystem::path plain = place / "plain.cpp";
  write_starting_file("cpp", plain);
  std::ifstream file(plain);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view threads =
      "#pragma omp parallel for\n"; // they would wait for each other
  if (const std::size_t at = text.find(threads); at != std::string::npos) {
    text.erase(at, threads.size());
  }
  const std::filesystem::path reference = place / "reference.cpp";
  write_slowed(reference, text, 0);
  std::vector<RunDuel> duels;
  for (const TrialRow& row : rows) {
    const std::filesystem::path slowed = place / fmt::format("slowed{}.cpp", duels.size());
    write_slowed(slowed, text, row.slowdown);
    StepPlan plan{.limit_seconds = 60};
    plan.problem.nx = plan.problem.ny = 256;
    duels.push_back(duel_of(submission_duel(reference, slowed, plan, progress).run));
  }
  return duels;
}

std::vector<RunDuel> backend_duels(Rows rows) {
  std::vector<RunDuel> duels;
  for (const TrialRow& row : rows) {
    StepPlan plan{.limit_seconds = 60};
    plan.problem.nx = plan.problem.ny = 256;
    duels.push_back(
        duel_of(backend_duel({{{duelled_backend}, {duelled_backend, row.slowdown}}}, plan).run));
  }
  return duels;
}

/// A comparison of two rows that ends when their order is decided.
DuelOutcome duel_of_rows(const TrialRow& row, double seconds, Progress& progress) {
  ComparisonPlan plan;
  plan.problem.nx = plan.problem.ny = 256;
  plan.iterations = 100;
  plan.backends = {duelled_backend};
  plan.baseline = "reference";
  plan.copy_roof = false;
  plan.until_decided = true;
  plan.least_effect = least_effect_in_run; // by which the trials are judged
  plan.budget_seconds = seconds;
  std::vector<PlannedRow> planned(2, select_backends(plan).front());
  planned[0].label = plan.baseline;
  planned[1].label = row.label;
  planned[1].slowdown = row.slowdown;
  const ComparisonResult result = measure(plan, planned, progress);
  if (result.interrupted) {
    throw Interrupted();
  }
  DuelOutcome found{.outcome = outcome_of(result), .troubles = troubles(result)};
  if (found.outcome.exit_code != exit_ok) {
    return found;
  }
  const auto quotients = paired_quotients(result.rows[1].samples, result.rows[0].samples);
  if (quotients.empty()) {
    throw Error("no rows have samples; give more --budget");
  }
  found.ratio = standing(quotients, order_rule(result.least_effect)).ratio;
  found.blocks = std::ssize(quotients);
  return found;
}

std::vector<RunDuel> row_duels(Rows rows, Progress& progress) {
  std::vector<RunDuel> duels;
  for (const TrialRow& row : rows) {
    duels.emplace_back([&progress, row](double seconds, std::uint64_t /*seed*/) {
      return duel_of_rows(row, seconds, progress);
    });
  }
  return duels;
}

/// Who makes the duels of a kind, each of which has so many seconds.
struct Maker {
  DuelTrialKind kind;
  std::vector<RunDuel> (*make)(Rows rows, double seconds, const std::filesystem::path& place,
                               Progress& progress);
};
using Path = std::filesystem::path;
constexpr std::array makers{
    Maker{DuelTrialKind::commands, [](Rows rows, double seconds, const Path&,
                                      Progress&) { return command_duels(rows, seconds); }},
    Maker{DuelTrialKind::files,
          [](Rows rows, double, const Path& place, Progress& progress) {
            return file_duels(rows, place, progress);
          }},
    Maker{DuelTrialKind::backends,
          [](Rows rows, double, const Path&, Progress&) { return backend_duels(rows); }},
    Maker{DuelTrialKind::rows, [](Rows rows, double, const Path&,
                                  Progress& progress) { return row_duels(rows, progress); }},
};

/// The tallies of all trials that were made, and how many blocks each of their duels had.
struct DuelTallies {
  std::vector<Tally> tallies;
  std::vector<std::vector<double>> blocks;

  explicit DuelTallies(Rows rows) : blocks(rows.size()) {
    for (const TrialRow& row : rows) {
      tallies.push_back({row});
    }
  }
  [[nodiscard]] bool empty() const { return tallies.front().ratios.empty(); }
};

/// The outcome is that of the first duel that is not well; its trial is not counted.
Outcome add_trial(std::span<const RunDuel> duels, double seconds, std::mt19937_64& seeds,
                  DuelTallies& found, std::vector<std::string>& notes) {
  std::vector<DuelOutcome> outcomes;
  for (const RunDuel& run : duels) {
    check_interrupt();
    outcomes.push_back(run(seconds, seeds()));
    if (outcomes.back().outcome.exit_code != exit_ok) {
      std::ranges::copy(outcomes.back().troubles, std::back_inserter(notes));
      return outcomes.back().outcome;
    }
  }
  for (std::size_t i = 0; i < duels.size(); ++i) {
    found.tallies[i].add(outcomes[i].ratio);
    found.blocks[i].push_back(static_cast<double>(outcomes[i].blocks));
  }
  return {};
}

void describe(const DuelTrials& options, double seconds, const DuelTallies& found,
              LabReport& report) {
  const std::string kind(duel_trial_kinds.name(options.kind));
  const std::string title =
      fmt::format("duels of {}, {:g} s each, margin {:g} %, alpha {:g} %", kind, seconds,
                  100 * VerdictRule{}.margin, 100 * VerdictRule{}.alpha);
  std::vector<double> medians;
  std::ranges::transform(found.blocks, std::back_inserter(medians), median_of);
  report.text = title + "\n\n" + format_tallies(found.tallies);
  report.figures = title + "\n";
  report.sentence = tallies_sentence(found.tallies);
  report.found_in_data = {"kinds", "identical"};
  report.notes.push_back(
      fmt::format("median blocks of a duel, row by row: {:g}", fmt::join(medians, ", ")));
  report.data = {{"duel", kind},
                 {"trial_seconds", options.trial_seconds},
                 {"median_blocks", medians},
                 {"kinds", tallies_json(found.tallies)}};
  report.rows = report.data.find("kinds");
}

std::vector<TrialRow> rows_of(const DuelTrials& options) {
  std::vector<TrialRow> rows{{"same", 0}};
  for (const double slowdown : options.slowdowns) {
    rows.push_back({fmt::format("{:g} % slower", 100 * slowdown), slowdown});
  }
  return rows;
}

} // namespace

LabReport report_duel_trials(const DuelTrials& options, std::span<const RunDuel> duels,
                             Progress& progress, const LineCache& kept) {
  const LoadWatch load;
  const std::vector<TrialRow> rows = rows_of(options);
  DuelTallies found(rows);
  LabReport report;
  std::mt19937_64 seeds(std::random_device{}());
  const double seconds = options.trial_seconds / static_cast<double>(duels.size());
  try {
    for (std::int64_t i = 0; i < options.trials && report.outcome.exit_code == exit_ok; ++i) {
      progress.within(fmt::format("{} of {}: ", i + 1, options.trials));
      progress.stage("duels");
      report.outcome = add_trial(duels, seconds, seeds, found, report.notes);
    }
  } catch (const Interrupted&) {
    report.interrupted = true;
  } catch (const NotVerified& error) {
    report.outcome = {exit_not_verified, error.what()};
  } catch (const Error& error) {
    report.outcome = {exit_error, error.what()};
  }
  if (!found.empty()) {
    describe(options, seconds, found, report);
    mark_disturbed(report, load);
    judge_identical(found.tallies.front(), std::string(duel_trial_kinds.name(options.kind)), kept,
                    report);
    return report;
  }
  if (report.interrupted) {
    throw Interrupted();
  }
  report.sentence = "No trial could be measured.";
  return report;
}

LabReport run_duel_trials(const DuelTrials& options, Progress& progress) {
  const TemporaryDirectory place;
  const std::vector<TrialRow> rows = rows_of(options);
  const auto maker = std::ranges::find(makers, options.kind, &Maker::kind);
  progress.stage("preparing");
  const std::vector<RunDuel> duels = maker->make(
      rows, options.trial_seconds / static_cast<double>(rows.size()), place.path(), progress);
  return report_duel_trials(options, duels, progress, LineCache::standard("verdicts"));
}

} // namespace diffbench::bench
