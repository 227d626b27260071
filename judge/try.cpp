// SPDX-License-Identifier: Apache-2.0
// The verb try: a user's own kernel, judged and timed; or those of a class.
#include "assumed_report.hpp"
#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/random_bits.hpp"
#include "grade/class_folder.hpp"
#include "grade/grade.hpp"
#include "lab_report.hpp"
#include "option_list.hpp"
#include "program_trial.hpp"
#include "result_file.hpp"
#include "starting_file.hpp"
#include "temporary_directory.hpp"
#include "trial.hpp"
#include "try_report.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace diffbench::bench {

namespace {

struct TryPlan {
  std::string file;
  std::vector<std::string> files; ///< more than one only of a program
  std::vector<std::string> arguments;
  std::string starting;                 ///< of --new
  std::optional<std::int64_t> exercise; ///< of --exercise; 0: a list of all
  TrialPlan trial;
  ClassPlan of_class;
  LabOutput output;

  [[nodiscard]] bool tries_class() const {
    std::error_code ignored;
    return std::filesystem::is_directory(file, ignored);
  }
  /// A whole CUDA program.
  [[nodiscard]] bool tries_program() const {
    const auto is_cuda = [](const std::string& each) {
      return known_language(each) == Language::cuda;
    };
    return !tries_class() && !trial.form && std::ranges::any_of(files, is_cuda) &&
           std::ranges::any_of(files, [](const std::string& each) { return has_main(each); });
  }
};

void declare_try_options(OptionList& options, TryPlan& plan) {
  options.files(
      "FILE FILE|DIR", plan.files,
      "a .c, .cpp, .cu, .py or .so file with step, solve or a session; or a folder with a "
      "file, or a folder with one, for each student; or the .cu and .cpp files of a "
      "program with main(), and after -- its arguments");
  options.texts("-- ARGUMENTS", plan.arguments, "of a program with main()");
  options.text("--new KIND", plan.starting,
               "writes FILE, a right one to start from: " + one_of(starting_kinds(), ""));
  const Limits numbers{1, static_cast<std::int64_t>(exercise_count())};
  options.value("--exercise [N]",
                described("writes FILE, a port with a fault to mend; without N a list of them",
                          to_string(numbers), ""),
                [&plan, numbers](std::string_view option, const std::string& text) {
                  plan.exercise = text.empty() ? 0 : parse_integer(option, text, numbers);
                });
  options.value_may_lack();
  declare_trial(options, plan.trial, "of the fields; 0: secret ones, but for a folder 1");
  options.group("A card that is not here");
  declare_assume(options, plan.trial.assumed);
  declare_class(options, plan.of_class);
  for (const char* of_form : {"--dtype", "--schedules", "--grid", "--iters", "--timeout",
                              "--threads", "--no-timing", "--seed"}) {
    options.needs(of_form, "a step, solve or session: a program with main() is run as it is",
                  [&plan] { return !plan.tries_program(); });
  }
  options.needs("--", "a CUDA program with main()",
                [&plan] { return plan.tries_program() || !std::filesystem::exists(plan.file); });
  const auto class_only = [&plan] { return plan.tries_class(); };
  options.needs("--rubric", "a folder of a class", class_only);
  options.needs("--assume", "a .cu file, which says what it would ask a card for", [&plan] {
    return plan.tries_program() || known_language(plan.file) == Language::cuda;
  });
  for (const char* of_one : {"--new", "--exercise", "--report"}) {
    options.needs(of_one, "a file to try", [&plan] { return !plan.tries_class(); });
  }
}

/// What is there for FILE to become; true where nothing is to be tried.
bool prepares(const TryPlan& plan, std::ostream& out) {
  if (plan.exercise == 0) {
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
    plan.file = plan.files.empty() ? "" : plan.files.front();
    if (plan.files.size() > 1 && !plan.tries_program()) {
      throw InvalidInput("several files are tried only where they are a CUDA program with main()");
    }
    if (plan.exercise && !plan.starting.empty()) {
      throw InvalidInput("--new and --exercise: choose one");
    }
  });
  return [plan](const Invocation& invocation) {
    if (plan->of_class.print_rubric) {
      write_out(invocation.out, to_text(rubric_json(plan->of_class.rubric)));
      return static_cast<int>(exit_ok);
    }
    if (prepares(*plan, invocation.out)) {
      return static_cast<int>(exit_ok);
    }
    validate(plan->trial.run.problem);
    TrialPlan trial = plan->trial;
    if (plan->tries_class()) {
      (void)class_folder(plan->file);
      complete(plan->of_class);
      trial.run.budget_seconds = trial.run.budget_binds ? trial.run.budget_seconds : 2;
      trial.judge.seed = std::max<std::uint64_t>(trial.judge.seed, 1); // equal input, equal grades
      return run_experiment("grade", plan->output, invocation, [&](Progress& progress) {
        return class_report(plan->file, plan->of_class, trial, progress);
      });
    }
    if (plan->tries_program()) {
      TriedProgram program{.files = {plan->files.begin(), plan->files.end()},
                           .arguments = plan->arguments};
      program.seconds = trial.run.budget_binds ? trial.run.budget_seconds : program.seconds;
      return run_experiment("try", plan->output, invocation, [&](Progress& progress) {
        const TemporaryDirectory work_dir;
        return program_report(try_program(program, trial, work_dir.path(), progress));
      });
    }
    (void)language_of(plan->file);
    if (trial.judge.seed == 0) {
      trial.judge.seed = random_bits();
    }
    return run_experiment("try", plan->output, invocation, [&](Progress& progress) {
      const TemporaryDirectory work_dir;
      return try_report(try_file(plan->file, trial, work_dir.path(), progress));
    });
  };
}

} // namespace diffbench::bench
