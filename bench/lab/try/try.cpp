// SPDX-License-Identifier: Apache-2.0
// The verb try: a user's own kernel, judged and timed.
#include "assumed_report.hpp"
#include "diffbench/errors.hpp"
#include "exercise.hpp"
#include "lab_report.hpp"
#include "option_list.hpp"
#include "starting_file.hpp"
#include "temporary_directory.hpp"
#include "trial.hpp"
#include "try_report.hpp"

#include <memory>
#include <optional>
#include <random>
#include <string>

namespace diffbench::bench {

namespace {

struct TryPlan {
  std::string file;
  std::string starting;                ///< of --new
  std::optional<std::size_t> exercise; ///< of --exercise; 0: a list of all
  TrialPlan trial;
  LabOutput output;
};

void declare_try_options(OptionList& options, TryPlan& plan) {
  options.text("FILE", plan.file, "a .c, .cpp, .cu, .py or .so file with step, solve or a session");
  options.text("--new KIND", plan.starting,
               "writes FILE, a right one to start from: " + one_of(starting_kinds(), ""));
  options.choices(starting_kinds());
  declare_exercise(options, plan.exercise);
  declare_trial(options, plan.trial, "of the fields; 0: secret ones");
  options.group("A card that is not here");
  declare_assume(options, plan.trial.assumed);
}

/// What is there for FILE to become; true where nothing is to be tried.
bool prepares(const TryPlan& plan, std::ostream& out) {
  if (plan.exercise == std::size_t{0}) {
    write_text(out, exercise_list());
    return true;
  }
  std::string file = plan.file;
  if (plan.exercise) {
    file = file.empty() ? exercise_file_name(*plan.exercise) : file;
    write_exercise(*plan.exercise, file);
  } else if (plan.file.empty()) {
    throw InvalidInput("which file? diffbench try my.c; diffbench try --new cpp my.cpp writes one");
  } else if (!plan.starting.empty()) {
    write_starting_file(plan.starting, file);
  } else {
    return false;
  }
  out << fmt::format("{} is there; next: diffbench try {}\n", file, file);
  return true;
}

} // namespace

Action declare_try(OptionList& options) {
  const auto plan = std::make_shared<TryPlan>();
  plan->trial.run.budget_seconds = 4;
  declare_try_options(options, *plan);
  plan->output.declare(options);
  options.check([&plan = *plan] {
    if (plan.exercise && !plan.starting.empty()) {
      throw InvalidInput("--new and --exercise: choose one");
    }
  });
  return [plan](const Invocation& invocation) {
    if (prepares(*plan, invocation.out)) {
      return static_cast<int>(exit_ok);
    }
    if (plan->trial.assumed && language_of(plan->file) != Language::cuda) {
      throw InvalidInput("--assume: only a .cu file says what it would ask a card for");
    }
    (void)language_of(plan->file);
    validate(plan->trial.run.problem);
    TrialPlan trial = plan->trial;
    if (trial.judge.seed == 0) {
      std::random_device secret;
      trial.judge.seed = (std::uint64_t{secret()} << 32) + secret();
    }
    return run_experiment("try", plan->output, invocation, [&](Progress& progress) {
      const TemporaryDirectory work_dir;
      return try_report(try_file(plan->file, trial, work_dir.path(), progress));
    });
  };
}

} // namespace diffbench::bench
