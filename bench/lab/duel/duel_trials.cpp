// SPDX-License-Identifier: Apache-2.0
// Duels of a thing with itself and with slower ones, for the self-test: a RunDuelTrials. Each kind
// of duel, and the comparison until it is decided, is given something whose slowdown is known.
#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "duel/blocks.hpp"
#include "duel/sides.hpp"
#include "duel/step_sides.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::array duelled{TrialRow{"same", 0}, TrialRow{"1 % slower", 0.01},
                             TrialRow{"2 % slower", 0.02}, TrialRow{"5 % slower", 0.05},
                             TrialRow{"10 % slower", 0.10}};
constexpr const char* duelled_backend = "fused";
constexpr double command_seconds = 0.02;

/// What came of one duel.
struct DuelOutcome {
  Ratio ratio;
  std::int64_t blocks = 0;
};
using RunDuel = std::function<DuelOutcome(double seconds, std::uint64_t seed)>;

RunDuel duel_of(RunBlock run) {
  return [run = std::move(run)](double seconds, std::uint64_t seed) {
    std::vector<Duel> duels{{.label = "", .run = run}};
    const Stopwatch watch;
    if (!run_blocks(
            duels, VerdictRule{}, {.seconds = seconds}, seed, [&] { return watch.seconds(); },
            [] {})) {
      throw Interrupted();
    }
    return DuelOutcome{.ratio = standing(duels.front().quotients(), VerdictRule{}).ratio,
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
  std::ranges::generate(seconds, [&] { return sides.run(Side::a).seconds(); });
  return median_of({seconds.begin(), seconds.end()});
}

/// Loops of a shell that take so much longer as is planted, sh's start included.
std::vector<RunDuel> command_duels() {
  constexpr std::int64_t many = 100'000;
  const double start = seconds_of_loop(0);
  const double turn = (seconds_of_loop(many) - start) / static_cast<double>(many);
  std::vector<RunDuel> duels;
  for (const TrialRow& row : duelled) {
    const auto turns = [&](double seconds) {
      return static_cast<std::int64_t>(std::max(1.0, (seconds - start) / turn));
    };
    const auto sides = std::make_shared<const CommandSides>(
        Command{.text = loop_command(turns(command_seconds))},
        Command{.text = loop_command(turns(command_seconds * (1 + row.slowdown)))},
        CommandSettings{.limit_seconds = 60});
    duels.push_back(duel_of([sides](Side first) {
      return block_of_runs(first, [&](Side side) { return sides->run(side); });
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

std::vector<RunDuel> file_duels(const std::filesystem::path& place, Progress& progress) {
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
  for (const TrialRow& row : duelled) {
    const std::filesystem::path slowed = place / fmt::format("slowed{}.cpp", duels.size());
    write_slowed(slowed, text, row.slowdown);
    StepPlan plan{.limit_seconds = 60};
    plan.problem.nx = plan.problem.ny = 256;
    duels.push_back(duel_of(submission_blocks(reference, slowed, plan, progress)));
  }
  return duels;
}

std::vector<RunDuel> backend_duels() {
  std::vector<RunDuel> duels;
  for (const TrialRow& row : duelled) {
    StepPlan plan{.limit_seconds = 60};
    plan.problem.nx = plan.problem.ny = 256;
    duels.push_back(
        duel_of(backend_blocks({{{duelled_backend}, {duelled_backend, row.slowdown}}}, plan)));
  }
  return duels;
}

/// A comparison of two rows that ends when their order is decided.
std::vector<RunDuel> row_duels(Progress& progress) {
  std::vector<RunDuel> duels;
  duels.reserve(duelled.size());
  for (const TrialRow& row : duelled) {
    duels.emplace_back([&progress, &row](double seconds, std::uint64_t /*seed*/) {
      ComparisonPlan plan;
      plan.problem.nx = plan.problem.ny = 256;
      plan.iterations = 100;
      plan.backends = {duelled_backend};
      plan.baseline = "reference";
      plan.copy_roof = false;
      plan.until_decided = true;
      plan.budget_seconds = seconds;
      std::vector<PlannedRow> planned(2, select_backends(plan).front());
      planned[0].label = plan.baseline;
      planned[1].label = row.label;
      planned[1].slowdown = row.slowdown;
      const ComparisonResult result = measure(plan, planned, progress);
      if (result.interrupted) {
        throw Interrupted();
      }
      const auto quotients = paired_quotients(result.rows[1].samples, result.rows[0].samples);
      if (quotients.empty()) {
        throw Error("no rows have samples; give more --budget");
      }
      return DuelOutcome{.ratio = standing(quotients, order_rule(least_effect_in_run)).ratio,
                         .blocks = std::ssize(quotients)};
    });
  }
  return duels;
}

std::vector<RunDuel> duels_of_kind(const std::string& kind, const std::filesystem::path& place,
                                   Progress& progress) {
  progress.stage("preparing");
  if (kind == "commands") {
    return command_duels();
  }
  if (kind == "files") {
    return file_duels(place, progress);
  }
  return kind == "backends" ? backend_duels() : row_duels(progress);
}

/// The tallies of all trials that were made, and how many blocks each of their duels had.
struct DuelTallies {
  std::vector<Tally> tallies;
  std::vector<std::vector<double>> blocks;
};

bool add_trial(const std::vector<RunDuel>& duels, double seconds, std::mt19937_64& seeds,
               DuelTallies& found) {
  std::vector<DuelOutcome> outcomes;
  try {
    for (const RunDuel& run : duels) {
      check_interrupt();
      outcomes.push_back(run(seconds, seeds()));
    }
  } catch (const Interrupted&) {
    return false;
  }
  for (std::size_t i = 0; i < duels.size(); ++i) {
    found.tallies[i].add(outcomes[i].ratio);
    found.blocks[i].push_back(static_cast<double>(outcomes[i].blocks));
  }
  return true;
}

} // namespace

LabReport run_duel_trials(const DuelTrials& options, Progress& progress) {
  const TemporaryDirectory place;
  const LoadWatch load;
  const std::vector<RunDuel> duels = duels_of_kind(options.kind, place.path(), progress);
  DuelTallies found;
  for (const TrialRow& row : duelled) {
    found.tallies.push_back({row});
    found.blocks.emplace_back();
  }
  LabReport report;
  std::mt19937_64 seeds(std::random_device{}());
  const double seconds = options.trial_seconds / static_cast<double>(duels.size());
  for (std::int64_t i = 0; i < options.trials && !report.interrupted; ++i) {
    progress.within(fmt::format("{} of {}: ", i + 1, options.trials));
    progress.stage("duels");
    report.interrupted = !add_trial(duels, seconds, seeds, found);
  }
  if (found.tallies.front().ratios.empty()) {
    throw Interrupted();
  }
  const std::string title =
      fmt::format("duels of {}, {:g} s each, margin {:g} %, alpha {:g} %", options.kind, seconds,
                  100 * VerdictRule{}.margin, 100 * VerdictRule{}.alpha);
  std::vector<double> medians;
  std::ranges::transform(found.blocks, std::back_inserter(medians), median_of);
  report.text = title + "\n\n" + format_tallies(found.tallies);
  report.figures = title + "\n";
  report.sentence = tallies_sentence(found.tallies);
  report.found_in_data = {"kinds", "identical"};
  report.notes.push_back(
      fmt::format("median blocks of a duel, row by row: {:g}", fmt::join(medians, ", ")));
  report.data = {{"duel", options.kind},
                 {"trial_seconds", options.trial_seconds},
                 {"median_blocks", medians},
                 {"kinds", tallies_json(found.tallies)}};
  report.rows = report.data.find("kinds");
  mark_disturbed(report, load);
  judge_identical(found.tallies.front(), options.kind, LineCache::standard("verdicts"), report);
  return report;
}

} // namespace diffbench::bench
