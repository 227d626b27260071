// SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/text.hpp"
#include "host_compiler.hpp"
#include "option_groups.hpp"
#include "starting_file.hpp"
#include "temporary_directory.hpp"
#include "timed_submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace diffbench::bench {

namespace {

/// Of what is left of a budget: reference and first runs take more than as much again.
double seconds_for_rounds(double left) {
  constexpr double least = 0.1;
  return std::max(least, 0.4 * left);
}

/// Valid in C and in C++.
constexpr std::string_view right_file = R"(#include <math.h>
#include <stdlib.h>
void step(const float* u, float* out, int nx, int ny, float factor) {
#pragma omp parallel for
  for (int i = 0; i < nx * ny; ++i) {
    const int x = i % nx, row = i - x, all = nx * ny;
    const float lap = u[(i + all - nx) % all] + u[(i + nx) % all] + u[row + (x + nx - 1) % nx] +
                      u[row + (x + 1) % nx] - 4 * u[i];
    out[i] = u[i] + factor * lap;
  }
}
)";

/// `find`, and once more where what it finds may be the machine's doing.
template <typename Find, typename IsDoubtful>
auto found_twice(const Find& find, const IsDoubtful& is_doubtful, const std::filesystem::path& file,
                 const TrialPlan& plan) {
  auto found = find();
  if (is_doubtful(found)) {
    try_right_file(language_of(file), plan);
    found = find();
  }
  return found;
}

} // namespace

void try_right_file(Language language, const TrialPlan& plan) {
  const TemporaryDirectory place, work_dir;
  CompilerChoice compiler = plan.compiler;
  compiler.own_files.reset();
  std::filesystem::path file = place.path() / "right.cpp";
  if (language == Language::python || language == Language::cuda) {
    file.replace_extension(language == Language::python ? ".py" : ".cu");
    compiler.flags.clear(); // which only whole programs take
    write_starting_file(language == Language::python ? "python" : "cuda-kernel", file);
  } else {
    file.replace_extension(language == Language::c ? ".c" : ".cpp");
    write_atomically(file, [](std::ostream& out) { out << right_file; });
  }
  JudgePlan judge{.limits = plan.judge.limits, .seed = 1, .brief = true, .schedules = 0};
  judge.limits.memory_bytes = (plan.memory_mib << 20) + emulation_bytes;
  std::string why;
  try {
    if (language == Language::library) {
      (void)find_compiler(/*of_c=*/false, compiler.compiler);
    }
  } catch (const Unavailable&) { // a library needs none
    return;
  }
  try {
    const Submission submission = prepare(file, {}, compiler, work_dir.path());
    const Judgement judged =
        judge_submission(submission, Dtype::float32, judge, work_dir.path(), [](double) {});
    why = is_right(judged.verdict)    ? ""
          : judged.complaints.empty() ? "its cells are wrong"
                                      : judged.complaints.front();
  } catch (const InvalidInput& error) {
    why = error.what();
  }
  if (!why.empty()) {
    throw Unavailable(
        fmt::format("nothing can be tried here: a file that is known to be right fails, "
                    "too: {}; mend that, or set TMPDIR or --compiler to others",
                    why));
  }
}

void declare_trial(OptionList& options, TrialPlan& plan, std::string_view seed_help) {
  options.value("--form NAME", "session, solve or step, where the file has several",
                [&plan](std::string_view option, const std::string& text) {
                  plan.form = parse_as(
                      option, text, [](const std::string& name) { return form_names.parse(name); });
                });
  options.value("--dtype NAME", "float32 or float64; all that the file has without it",
                [&plan](std::string_view option, const std::string& text) {
                  plan.dtype = parse_as(option, text, [](const std::string& name) {
                    return dtype_names.parse(name);
                  });
                });
  options.text("--compiler PROGRAM", plan.compiler.compiler, "instead of cc or c++");
  options.text("--flags WORDS", plan.compiler.flags,
               "instead of -O3 -march=native -ffp-contract=off -fopenmp");
  options.group("Limits");
  declare_seconds(
      options, "--timeout SECONDS", plan.judge.limits.seconds,
      fmt::format("that one run may take; all runs of a file {} times that", runs_in_full));
  options.integer("--memory MIB", plan.memory_mib, {64, 1 << 24},
                  fmt::format("that it may take; a .cu file {} more, for the emulated device",
                              emulation_bytes >> 20));
  declare_seed(options, plan.judge.seed, seed_help);
  options.group("CUDA without a GPU");
  options.integer("--schedules N", plan.judge.schedules, {0, 100'000},
                  "orders of threads and blocks that a .cu file runs in besides");
  options.group("Timing");
  declare_grid(options, plan.run.problem);
  declare_iterations(options, plan.run.iterations);
  declare_threads(options, plan.run.session.threads, "for the rows beside it", "the usable CPUs");
  declare_budget(options, plan.run.budget_seconds, plan.run.budget_binds);
  options.clearing_flag("--no-timing", plan.timing, "only whether it is right");
  for (const char* timed : {"--threads", "--budget"}) {
    options.needs(timed, "timing: leave --no-timing out", [&plan] { return plan.timing; });
  }
}

Trial try_file(const std::filesystem::path& file, const TrialPlan& plan,
               const std::filesystem::path& work_dir, Progress& progress) {
  const Stopwatch<> watch;
  Trial trial;
  trial.file = one_line(file.filename().string());
  progress.stage("compiling");
  try {
    trial.submission = prepare(file, plan.form, plan.compiler, work_dir);
  } catch (const Doubtful&) {
    try_right_file(language_of(file), plan);
    trial.submission = prepare(file, plan.form, plan.compiler, work_dir);
  }
  const bool emulated = trial.submission.language == Language::cuda;
  JudgePlan judge = plan.judge;
  judge.limits.memory_bytes = plan.memory_mib << 20;
  const double allowed = runs_in_full * judge.limits.seconds;
  judge.limits.allowance = std::make_shared<Allowance>(Allowance{.seconds = allowed});
  if (emulated) {
    judge.brief = true;
    judge.nx = plan.run.problem.nx;
    judge.ny = plan.run.problem.ny;
    judge.limits.memory_bytes += emulation_bytes;
  }
  for (const Dtype dtype : trial.submission.dtypes) {
    if (!plan.dtype || *plan.dtype == dtype) {
      progress.stage(fmt::format("judging {}", to_string(dtype)));
      trial.judgements.push_back(found_twice(
          [&] {
            return judge_submission(trial.submission, dtype, judge, work_dir,
                                    [&](double fraction) { progress.update(fraction); });
          },
          [](const Judgement& judgement) { return judgement.doubtful; }, file, plan));
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
    run.problem.boundary = right->boundary;
    if (run.budget_binds) {
      run.budget_seconds = seconds_for_rounds(run.budget_seconds - watch.seconds());
    }
    run.initial = {.kind = InitialField::Kind::random, .seed = plan.judge.seed, .path = {}};
    Allowance& allowance = *judge.limits.allowance;
    const double longest = 2 * std::max(run.budget_seconds, plan.run.budget_seconds);
    allowance.seconds += longest;
    allowance.left += longest;
    trial.timing = found_twice(
        [&] {
          return time_submission(run, trial.submission, *right, trial.file, judge, work_dir,
                                 progress);
        },
        [&](const ComparisonResult& timing) {
          return timing.rows.front().failed() && !allowance.is_spent();
        },
        file, plan);
    trial.timing_undecided = trial.timing->rows.front().failed() && allowance.is_spent();
  }
  const auto ran = std::ranges::find_if(trial.judgements, [](const Judgement& judgement) {
    return !judgement.failed && std::ranges::find(judgement.findings, "launch_refused",
                                                  &DeviceFinding::kind) == judgement.findings.end();
  });
  if (plan.assumed && ran != trial.judgements.end()) {
    progress.stage(fmt::format("counting what it asks of {}", plan.assumed->id));
    Problem problem = plan.run.problem;
    problem.dtype = ran->dtype;
    problem.boundary = ran->boundary;
    trial.asked =
        ask_for_card(trial.submission, problem, plan.run.iterations, *plan.assumed, judge.limits,
                     work_dir, [&](double fraction) { progress.update(fraction); });
  }
  return trial;
}

} // namespace diffbench::bench
