// The verb try: a user's own kernel, judged and timed.
#include "assumed_report.hpp"
#include "diffbench/errors.hpp"
#include "judgement.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "starting_file.hpp"
#include "submission.hpp"
#include "temporary_directory.hpp"
#include "timed_submission.hpp"
#include "try_report.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

struct TryPlan {
  std::string file;
  std::string starting; ///< of --new
  std::optional<Form> form;
  std::optional<Dtype> dtype;
  CompilerChoice compiler;
  JudgePlan judge;
  std::int64_t memory_mib = 4096;
  bool timing = true;
  std::optional<AssumedCard> assumed;
  ComparisonPlan run;
  LabOutput output;
};

/// Address space, most of which is never touched: what was freed stays mapped, and every byte has a
/// record of who accessed it.
constexpr std::int64_t emulation_bytes = std::int64_t{8} << 30;

/// The judgements of what was asked for, and the time of the first dtype that is right.
Trial try_file(const TryPlan& plan, const std::filesystem::path& work_dir, Progress& progress) {
  Trial trial;
  trial.file = std::filesystem::path(plan.file).filename().string();
  progress.stage("compiling");
  trial.submission = prepare(plan.file, plan.form, plan.compiler, work_dir);
  const bool emulated = trial.submission.language == Language::cuda;
  JudgePlan judge = plan.judge;
  if (emulated) {
    judge.brief = true;
    judge.limits.memory_bytes += emulation_bytes;
  }
  for (const Dtype dtype : trial.submission.dtypes) {
    if (!plan.dtype || *plan.dtype == dtype) {
      progress.stage(fmt::format("judging {}", to_string(dtype)));
      trial.judgements.push_back(
          judge_submission(trial.submission, dtype, judge, work_dir,
                           [&](double fraction) { progress.update(fraction); }));
    }
  }
  if (trial.judgements.empty()) {
    throw InvalidInput(fmt::format("--dtype {}: {} has only {}", to_string(*plan.dtype), trial.file,
                                   to_string(trial.submission.dtypes.front())));
  }
  const auto right = std::ranges::find_if(
      trial.judgements, [](const Judgement& judgement) { return is_right(judgement.verdict); });
  if (plan.timing && !emulated && right != trial.judgements.end()) {
    ComparisonPlan run = plan.run;
    run.problem.dtype = right->dtype;
    run.initial = {.kind = InitialField::Kind::random, .seed = plan.judge.seed, .path = {}};
    trial.timing =
        time_submission(run, trial.submission, *right, trial.file, plan.judge, work_dir, progress);
  }
  const auto ran = std::ranges::find_if(
      trial.judgements, [](const Judgement& judgement) { return !judgement.failed; });
  if (plan.assumed && ran != trial.judgements.end()) {
    progress.stage(fmt::format("counting what it asks of {}", plan.assumed->id));
    Problem problem = plan.run.problem;
    problem.dtype = ran->dtype;
    trial.asked =
        ask_for_card(trial.submission, problem, plan.run.iterations, *plan.assumed, judge.limits,
                     work_dir, [&](double fraction) { progress.update(fraction); });
  }
  return trial;
}

void declare_try_options(OptionList& options, TryPlan& plan) {
  options.text("FILE", plan.file, "a .c, .cpp, .cu, .py or .so file with step, solve or a session");
  options.text("--new KIND", plan.starting,
               "writes FILE, a right one to start from: " + one_of(starting_kinds(), ""));
  options.choices(starting_kinds());
  options.value("--form NAME", "session, solve or step, where the file has several",
                [&plan](std::string_view option, const std::string& text) {
                  plan.form = parse_as(
                      option, text, [](const std::string& name) { return form_names.parse(name); });
                });
  options.choices(form_names.names());
  options.value("--dtype NAME", "float32 or float64; all that the file has without it",
                [&plan](std::string_view option, const std::string& text) {
                  plan.dtype = parse_as(option, text, [](const std::string& name) {
                    return dtype_names.parse(name);
                  });
                });
  options.choices(dtype_names.names());
  options.text("--compiler PROGRAM", plan.compiler.compiler, "instead of cc or c++");
  options.text("--flags WORDS", plan.compiler.flags,
               "instead of -O3 -march=native -ffp-contract=off -fopenmp");
  options.group("Limits");
  declare_seconds(options, "--timeout SECONDS", plan.judge.limits.seconds, "that one run may take");
  options.integer("--memory MIB", plan.memory_mib, {64, 1 << 24}, "that it may take");
  declare_seed(options, plan.judge.seed, "of the fields; 0: secret ones");
  options.group("CUDA without a GPU");
  options.integer("--schedules N", plan.judge.schedules, {0, 100'000},
                  "orders of threads and blocks that a .cu file runs in besides");
  declare_assume(options, plan.assumed);
  options.group("Timing");
  declare_grid(options, plan.run.problem);
  declare_iterations(options, plan.run.iterations);
  declare_threads(options, plan.run.session.threads, "for the rows beside it", "the usable CPUs");
  declare_budget(options, plan.run.budget_seconds, "time for the timing rounds");
  options.clearing_flag("--no-timing", plan.timing, "only whether it is right");
}

} // namespace

Action declare_try(OptionList& options) {
  const auto plan = std::make_shared<TryPlan>();
  plan->run.budget_seconds = 4;
  declare_try_options(options, *plan);
  plan->output.declare(options);
  return [plan](const Invocation& invocation) {
    if (plan->file.empty()) {
      throw InvalidInput(
          "which file? diffbench try my.c; diffbench try --new cpp my.cpp writes one");
    }
    if (!plan->starting.empty()) {
      write_starting_file(plan->starting, plan->file);
      invocation.out << fmt::format("{} is there; next: diffbench try {}\n", plan->file,
                                    plan->file);
      return static_cast<int>(exit_ok);
    }
    if (plan->assumed && language_of(plan->file) != Language::cuda) {
      throw InvalidInput("--assume: only a .cu file says what it would ask a card for");
    }
    (void)language_of(plan->file);
    validate(plan->run.problem);
    TryPlan ready = *plan;
    ready.judge.limits.memory_bytes = ready.memory_mib << 20;
    if (ready.judge.seed == 0) {
      std::random_device secret;
      ready.judge.seed = (std::uint64_t{secret()} << 32) + secret();
    }
    return run_experiment("try", ready.output, invocation, [&](Progress& progress) {
      const TemporaryDirectory work_dir;
      return try_report(try_file(ready, work_dir.path(), progress));
    });
  };
}

} // namespace diffbench::bench
