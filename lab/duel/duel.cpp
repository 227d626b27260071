// SPDX-License-Identifier: Apache-2.0
// `diffbench duel`: two sides in turn until it is decided which one is faster. blocks.hpp says how.
#include "blocks.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/name_table.hpp"
#include "diffbench/random_bits.hpp"
#include "diffbench/stopwatch.hpp"
#include "duel_report.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "option_list.hpp"
#include "planning.hpp"
#include "sides.hpp"
#include "step_sides.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr double default_budget_seconds = 60;
/// Above this a sign test has nothing left to show.
constexpr double largest_alpha = 0.5;

constexpr NameTable<Shell, 2> shells{"shell", {{{Shell::none, "none"}, {Shell::sh, "sh"}}}};

constexpr const char* command_group = "Commands";
constexpr const char* step_group = "Two files, in steps of the solver";

enum class Kind { commands, submissions };

struct DuelOptions {
  Kind kind = Kind::commands;
  std::string a, b;
  StepPlan steps;
  std::vector<std::string> of_commands, of_steps; ///< options that were given for these
  CommandSettings settings;
  double timeout = 0;
  DuelCard card;
  int pairs = 0; ///< of a block; 0: as many as suit
  std::optional<std::uint64_t> seed;
  LabOutput output;
};

/// Warmed up; the card notes where that was cut.
Duel duel_of_commands(const DuelOptions& options, const Stopwatch<>& watch, DuelCard& card,
                      Progress& progress) {
  const auto sides = std::make_shared<const CommandSides>(options.a, options.b, options.settings);
  progress.stage("warm-up");
  const WarmUp done = sides->warm_up([&] { return watch.seconds() < card.budget_seconds / 2; });
  if (done.runs < options.settings.warmup) {
    card.notes.push_back(fmt::format("{} of {} warm-ups: half of the budget was gone", done.runs,
                                     options.settings.warmup));
  }
  const int pairs =
      options.pairs > 0 ? options.pairs : affordable_pairs(done.seconds, card.budget_seconds);
  return {.run = [sides, pairs, block = 0](Side first) mutable {
    ++block;
    return block_of_runs(first, pairs, [&, run = 0](Side side) mutable {
      const int pair = run++ / 2 + 1;
      return as_of(fmt::format("block {}, pair {}", block, pair), [&] { return sides->run(side); });
    });
  }};
}

StepDuel step_duel_of(const DuelOptions& options, Progress& progress) {
  StepPlan steps = options.steps;
  steps.seed = options.card.seed;
  steps.limit_seconds = options.settings.limit_seconds;
  if (options.pairs > 0) {
    steps.pairs = options.pairs;
  }
  return submission_duel(options.a, options.b, steps, progress);
}

/// Says on the card what its samples compute.
Duel duel_of(const DuelOptions& options, const Stopwatch<>& watch, DuelCard& card,
             Progress& progress) {
  if (options.kind == Kind::commands) {
    return duel_of_commands(options, watch, card, progress);
  }
  const StepDuel duel = step_duel_of(options, progress);
  card.work = duel.work;
  return {.run = duel.run};
}

LabReport measure_duel(const DuelOptions& options, Progress& progress) {
  DuelCard card = options.card;
  const Stopwatch watch;
  const LoadWatch load;
  Duel duel = duel_of(options, watch, card, progress);
  progress.stage("blocks");
  const double budget = options.card.budget_seconds;
  const bool finished = run_blocks(
      duel, options.card.rule, {.seconds = budget, .most_blocks = options.card.most_blocks},
      options.card.seed, [&] { return watch.seconds(); },
      [&] { progress.update(std::min(1.0, watch.seconds() / budget)); });
  progress.clear();
  if (duel.blocks.empty()) {
    throw Interrupted();
  }
  return duel_report(card, duel, load, !finished);
}

int run_duel(const DuelOptions& options, const Invocation& invocation) {
  LabOutput output = options.output;
  const double budget = options.card.budget_seconds;
  output.expect(budget, "until it is decided, " + limit_text(budget, true), true);
  return run_experiment("duel", output, invocation, [&](Progress& progress) {
    try {
      return measure_duel(options, progress);
    } catch (const NotVerified& error) {
      LabReport report;
      report.done = "The two sides were not timed: they do not do the same, or not what is right.";
      report.outcome = {exit_not_verified, error.what()};
      return report;
    }
  });
}

/// Which kind of sides was asked for; what is for another kind is refused.
void choose_kind(DuelOptions& typed) {
  const bool a = is_submission(typed.a);
  const bool b = is_submission(typed.b);
  if (a && b) {
    typed.kind = Kind::submissions;
  } else if (!typed.b.empty() && (a || b)) {
    throw InvalidInput(
        fmt::format("{} is a file that is timed in steps, as diffbench try does, {} is a command: "
                    "give two of a "
                    "kind",
                    a ? typed.a : typed.b, a ? typed.b : typed.a));
  }
  const bool commands = typed.kind == Kind::commands;
  const std::vector<std::string>& foreign = commands ? typed.of_steps : typed.of_commands;
  if (!foreign.empty()) {
    throw InvalidInput(
        fmt::format("{}: is for {}", foreign.front(), commands ? "two files" : "commands"));
  }
  validate(typed.steps.problem);
}

void check(DuelOptions& options) {
  choose_kind(options);
  if (options.b.empty()) {
    throw InvalidInput(
        "duel: give two commands, or two files as for try: diffbench duel './old --flags' "
        "'./new --flags'");
  }
  if (options.card.fail_on.slower) {
    options.card.rule.margin = *options.card.fail_on.slower;
  }
  options.settings.limit_seconds =
      options.timeout > 0 ? options.timeout : options.card.budget_seconds;
  if (!options.seed) {
    options.seed = static_cast<std::uint32_t>(random_bits());
  }
  options.card.seed = *options.seed;
  options.card.a = options.a;
  options.card.b = options.b;
}

void declare_commands(OptionList& options, DuelOptions& typed) {
  options.text("A COMMAND", typed.a,
               "the command that B is compared with, in quotes; or a .so, .c, .cpp or .py file, as "
               "for diffbench try");
  options.text("B COMMAND", typed.b, "what is judged, of the same kind");
  options.group(command_group);
  options.named("--shell none|sh", typed.settings.shell, shells);
  options.text("--prepare COMMAND", typed.settings.prepare,
               "runs before each run, in the same directory, outside of its time");
  options.integer("--warmup N", typed.settings.warmup, {0, 1000},
                  "runs of each side before the blocks, in half of --budget");
  options.flag("--same-output", typed.settings.same_output,
               "exit code 3 unless both write the same to stdout");
}

void declare_steps(OptionList& options, DuelOptions& typed) {
  StepPlan& steps = typed.steps;
  options.group(step_group);
  declare_grid(options, steps.problem);
  options.integer("--iters K", steps.steps, iteration_limits, "time steps of a sample");
  options.value("--dtype NAME", "float32 or float64 (default: float32 where both have it)",
                [&steps](std::string_view option, const std::string& text) {
                  steps.dtype = parse_as(option, text, [](const std::string& name) {
                    return dtype_names.parse(name);
                  });
                });
}

void declare_verdict(OptionList& options, DuelOptions& typed) {
  DuelCard& card = typed.card;
  options.group("Verdict");
  declare_seconds(options, "--timeout SECONDS", typed.timeout,
                  "a run or a sample that lasts longer is an error", "the budget");
  options.percent("--margin X%", card.rule.margin, "a difference up to this is none: SAME");
  options.value(
      "--alpha X%",
      fmt::format("probability of a wrong FASTER or SLOWER, however long one looks (above "
                  "0%, below {:g}%; default {:g}%)",
                  100 * largest_alpha, 100 * card.rule.alpha),
      [&alpha = card.rule.alpha](std::string_view option, const std::string& text) {
        alpha = parse_percent(option, text);
        if (!(alpha < largest_alpha)) {
          throw InvalidInput(
              fmt::format("{} {}: give less than {:g}%", option, text, 100 * largest_alpha));
        }
      });
  declare_fail_on(options, card.fail_on,
                  "exit code 5 when B is SLOWER, with a margin of X%; unclear: also without a "
                  "verdict; may be repeated");
  options.flag(
      "--beside-load", card.beside_load,
      "conclude although other programs run: what holds is then how the two do beside them");
  card.budget_seconds = default_budget_seconds;
  declare_seconds(options, "--budget SECONDS", card.budget_seconds,
                  "time for the whole run, unless it is decided before; a warm-up and one block "
                  "are taken in any "
                  "case");
  options.integer("--blocks N", card.most_blocks, {1, 1'000'000}, "at most so many blocks",
                  "as many as the budget allows");
  options.integer("--pairs N", typed.pairs, {1, 1000}, "pairs of runs, or of samples, in a block",
                  fmt::format("of samples {}, of runs up to 4, if the budget holds 30 such blocks",
                              pairs_of_samples));
  options.value(
      "--seed N",
      described("of the coin that orders each block", "0 to 10^12", "another each time"),
      [&seed = typed.seed](std::string_view option, const std::string& text) {
        seed = static_cast<std::uint64_t>(parse_integer(option, text, {0, 1'000'000'000'000}));
      });
}

} // namespace

Action declare_duel(OptionList& options) {
  const auto typed = std::make_shared<DuelOptions>();
  declare_commands(options, *typed);
  declare_steps(options, *typed);
  declare_verdict(options, *typed);
  options.check([&typed = *typed, &options] {
    if (options.given("--margin") && typed.card.fail_on.slower) {
      throw InvalidInput("--margin and --fail-on slower=X%: both set the margin; give one");
    }
    typed.of_steps = options.given_names(step_group);
    typed.of_commands = options.given_names(command_group);
  });
  typed->output.declare_files(options);
  options.clearing_flag("--no-progress", typed->output.progress, "no progress bar");
  return [typed](const Invocation& invocation) {
    check(*typed);
    return run_duel(*typed, invocation);
  };
}

} // namespace diffbench::bench
