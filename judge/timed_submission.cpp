// SPDX-License-Identifier: Apache-2.0
#include "timed_submission.hpp"

#include "bandwidth.hpp"
#include "competition.hpp"
#include "context.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/verify.hpp"
#include "diffbench/with_dtype.hpp"
#include "first_runs.hpp"
#include "interrupt.hpp"
#include "least_effect.hpp"
#include "planning.hpp"
#include "selection.hpp"
#include "temporary_directory.hpp"
#include "timed_peer.hpp"
#include "timed_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Beside a submission: what a tutorial, a library, a loop and all that is known give.
constexpr std::string_view rows_beside[] = {"xtensor", "fused", "simd"};
constexpr std::string_view peer_beside = "numpy";

template <typename T>
class TimedSubmission final : public TimedSolve<T> {
 public:
  /// `oracle` is right to the bit, and quick.
  TimedSubmission(const Problem& problem, const Submission& submission, const Judgement& judgement,
                  const JudgePlan& how, const std::filesystem::path& work_dir,
                  std::unique_ptr<Session<T>> oracle)
      : problem_(problem),
        submission_(submission),
        is_exact_(judgement.verdict == TryVerdict::same_bits),
        cpus_(usable_cpus()),
        process_(submission.compiled, how.limits, problem.field_bytes(), work_dir),
        oracle_(std::move(oracle)),
        secrets_(how.seed),
        field_(problem.nx, problem.ny) {
    process_.open(problem, submission.form);
  }

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    FirstRun run;
    std::ranges::copy(field, field_.cells().begin());
    run.cost.step_seconds = timed_run(1);
    run.steps = affordable_steps(steps, run.cost.step_seconds, limit_seconds);
    run.phases.compute = timed_run(run.steps);
    run.phases.wall = *run.phases.compute;
    run.cost.step_seconds = run.phases.wall / static_cast<double>(run.steps);
    std::ranges::copy(std::as_const(result_).cells(), field.begin());
    return run;
  }

  Sample sample(std::int64_t steps) override {
    fill_secret(field_, secrets_());
    return {.iterations = steps, .seconds = timed_run(steps), .cpu_seconds = std::nullopt};
  }

  void fetch(std::span<T> field) override {
    std::ranges::copy(std::as_const(result_).cells(), field.begin());
  }

  Phases full_run(std::span<T> field, std::int64_t steps) override {
    std::ranges::copy(field, field_.cells().begin());
    Phases phases;
    phases.compute = timed_run(steps);
    phases.wall = *phases.compute;
    fetch(field);
    return phases;
  }

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance{.threads = 0, .details = {}};
    provenance.details.emplace_back("form", to_string(submission_.form));
    provenance.details.emplace_back("language", to_string(submission_.language));
    if (!submission_.compiled.command.empty()) {
      provenance.details.emplace_back("command", submission_.compiled.command);
    }
    return provenance;
  }

  [[nodiscard]] pid_t process() const override { return process_.pid(); }
  [[nodiscard]] std::int64_t max_ulps() const { return max_ulps_; }

 private:
  /// From field_ to result_, which is right, or else Error is thrown.
  double timed_run(std::int64_t steps) {
    TriedRun<T> run = process_.run(field_, steps);
    result_ = std::move(run.result);
    if (run.input_changed) {
      throw Error("it changes its input");
    }
    if (run.outside) {
      throw Error(*run.outside);
    }
    check(steps);
    const double least = least_seconds(problem_.cells(), steps, problem_.dtype, cpus_);
    if (!(run.seconds >= least)) {
      throw Error(
          fmt::format("{} steps in {:.3g} s are more than this machine can compute, {:.3g} "
                      "s: the time is not believed",
                      steps, run.seconds, least));
    }
    return run.seconds;
  }

  /// Afterwards: what is right did not exist while it ran.
  void check(std::int64_t steps) {
    Field<T> expected(problem_.nx, problem_.ny);
    oracle_->upload(std::as_const(field_).cells());
    oracle_->advance(steps);
    oracle_->download(expected.cells());
    if (compare<T>(std::as_const(result_).cells(), std::as_const(expected).cells()).bitwise) {
      return;
    }
    const Difference found = difference<T>(std::as_const(result_).cells(),
                                           std::as_const(expected).cells(), problem_.nx, steps);
    max_ulps_ = std::max(max_ulps_, found.max_ulps);
    if (is_exact_ || !found.within_rounding(steps)) {
      throw Error(
          fmt::format("the result of a timed run is wrong: {} of {} cells after {} steps, "
                      "first at x={} y={}",
                      found.cells, problem_.cells(), steps, found.x, found.y));
    }
  }

  Problem problem_;
  const Submission& submission_;
  bool is_exact_;
  int cpus_;
  TriedProcess process_;
  std::unique_ptr<Session<T>> oracle_;
  std::mt19937_64 secrets_;
  Field<T> field_;
  Field<T> result_;
  std::int64_t max_ulps_ = 0;
};

std::vector<PlannedRow> planned_beside(const ComparisonPlan& plan) {
  std::vector<PlannedRow> planned;
  for (PlannedRow& row : select_backends(plan)) {
    if (row.probe.available &&
        std::ranges::find(rows_beside, row.backend.name) != std::end(rows_beside)) {
      planned.push_back(std::move(row));
    }
  }
  if (planned.empty()) {
    throw Unavailable("this build has none of the backends that a submission is timed beside");
  }
  return planned;
}

template <typename T>
class SubmissionRounds {
 public:
  SubmissionRounds(const ComparisonPlan& plan, Progress& progress)
      : plan_(plan),
        field_(plan.problem.nx, plan.problem.ny),
        first_runs_(plan_, field_, nobody()),
        competition_(progress),
        progress_(progress) {}

  void run(const Submission& submission, const Judgement& judgement, const std::string& row_name,
           const JudgePlan& how, const std::filesystem::path& work_dir, ComparisonResult& result) {
    const std::vector<PlannedRow> beside = planned_beside(plan_);
    enter_submission(submission, judgement, row_name, how, work_dir);
    fill_initial(plan_.problem, plan_.initial, field_);
    for (const PlannedRow& planned : beside) {
      competition_.enter(backend_contender<T>(plan_, plan_.problem, planned,
                                              std::as_const(field_).cells(), nobody()));
    }
    enter_peer(result);
    {
      const Observed span = competition_.stage("reference");
      result.field = first_runs_.compute_reference(
          plan_.budget_seconds / 5, [&](double fraction) { progress_.update(fraction); });
    }
    verify(judgement);
    fill_initial(plan_.problem, plan_.initial, field_);
    competition_.time(plan_.budget_seconds, 2 * plan_.budget_seconds,
                      [&](const SolveContender<T>& contender, double share) {
                        return plan_samples(contender.cost, share, plan_.iterations,
                                            uncut_steps(contender.row.provenance));
                      });
    result.rows = competition_.take_rows();
  }

 private:
  void enter_submission(const Submission& submission, const Judgement& judgement,
                        const std::string& row_name, const JudgePlan& how,
                        const std::filesystem::path& work_dir) {
    SolveContender<T> contender;
    contender.row.name = row_name;
    contender.row.kernel = row_name;
    contender.absence = Absence::fails_row;
    contender.timed = start_submission<T>(plan_.problem, submission, judgement, how, work_dir);
    competition_.enter(std::move(contender));
  }

  void enter_peer(ComparisonResult& result) {
    if (const Probe probe = probe_peer(peer_beside); !probe.available) {
      result.notes.push_back(probe.reason);
      return;
    }
    exchange_.emplace();
    ComparisonPlan with_peer = plan_;
    with_peer.peers = {std::string(peer_beside)};
    for (SolveContender<T>& peer :
         peer_contenders(with_peer, field_, exchange_->path(), progress_, nobody())) {
      competition_.enter(std::move(peer));
    }
  }

  void verify(const Judgement& judgement) {
    const double share = plan_.budget_seconds / 5;
    bool is_submission = true; // it was entered first
    competition_.verify([&](SolveContender<T>& contender) {
      if (std::exchange(is_submission, false)) {
        fill_initial(plan_.problem, plan_.initial, field_);
        const FirstRun run = contender.timed->first_run(field_.cells(), plan_.iterations, share);
        contender.cost = run.cost;
        contender.row.provenance = contender.timed->provenance();
        contender.row.verification =
            Verification{.bitwise = judgement.verdict == TryVerdict::same_bits, .steps = run.steps};
        if (!contender.row.verification->bitwise) {
          contender.row.verification->within_ulps = judgement.max_ulps;
        }
      } else {
        first_runs_.measure(contender, {.run_seconds = share, .row_seconds = share});
      }
    });
  }

  ComparisonPlan plan_;
  Field<T> field_;
  FirstRuns<T> first_runs_;
  std::optional<TemporaryDirectory> exchange_; ///< outlives the peer, which writes to it
  Competition<SolveContender<T>> competition_;
  Progress& progress_;
};

} // namespace

template <typename T>
std::unique_ptr<TimedSolve<T>> start_submission(const Problem& problem,
                                                const Submission& submission,
                                                const Judgement& judgement, const JudgePlan& how,
                                                const std::filesystem::path& work_dir) {
  const std::vector<PlannedRow> beside = planned_beside({});
  return std::make_unique<TimedSubmission<T>>(problem, submission, judgement, how, work_dir,
                                              make_session<T>(beside.back(), problem, nobody()));
}
template std::unique_ptr<TimedSolve<float>> start_submission(const Problem&, const Submission&,
                                                             const Judgement&, const JudgePlan&,
                                                             const std::filesystem::path&);
template std::unique_ptr<TimedSolve<double>> start_submission(const Problem&, const Submission&,
                                                              const Judgement&, const JudgePlan&,
                                                              const std::filesystem::path&);

double least_seconds(std::int64_t cells, std::int64_t steps, Dtype dtype, int cpus) {
  constexpr double fastest_clock = 8e9;
  constexpr double operations = 6; // four additions, a product, a last addition
  constexpr double vector_bytes = 64, units = 2;
  const double lanes = vector_bytes / (dtype == Dtype::float32 ? 4 : 8);
  return static_cast<double>(cells) * static_cast<double>(steps) * operations /
         (fastest_clock * units * lanes * static_cast<double>(cpus));
}

ComparisonResult time_submission(const ComparisonPlan& plan, const Submission& submission,
                                 const Judgement& judgement, const std::string& row_name,
                                 const JudgePlan& how, const std::filesystem::path& work_dir,
                                 Progress& progress) {
  ComparisonResult result;
  result.problem = plan.problem;
  result.initial = plan.initial;
  result.iterations = plan.iterations;
  result.baseline = peer_row_name(peer_beside);
  result.budget_seconds = plan.budget_seconds;
  result.last_level_cache_bytes = read_caches().l3;
  result.least_effect = least_effect_here();
  if (plan.copy_roof) {
    progress.stage("copy bandwidth");
    result.copy = measure_copy_bandwidth(copy_array_bytes(), usable_cpus(), 0.2);
  }
  with_dtype(plan.problem.dtype, [&]<typename T>(T) {
    SubmissionRounds<T>(plan, progress).run(submission, judgement, row_name, how, work_dir, result);
  });
  if (result.find(result.baseline) == nullptr) {
    result.baseline = "xtensor";
  }
  result.context = run_context();
  result.interrupted = interrupted();
  return result;
}

} // namespace diffbench::bench
