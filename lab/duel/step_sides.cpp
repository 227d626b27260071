// SPDX-License-Identifier: Apache-2.0
#include "step_sides.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/with_dtype.hpp"
#include "judgement.hpp"
#include "submission.hpp"
#include "temporary_directory.hpp"
#include "timed_submission.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

template <typename T>
class SubmissionSampler final : public Sampler {
 public:
  SubmissionSampler(Side side, std::unique_ptr<TimedSolve<T>> solve, std::int64_t steps)
      : side_(side), solve_(std::move(solve)), steps_(steps) {}
  double sample() override {
    return as_of(to_string(side_), [&] { return solve_->sample(steps_).seconds; });
  }

 private:
  Side side_;
  std::unique_ptr<TimedSolve<T>> solve_;
  std::int64_t steps_;
};

/// Two files, compiled and judged, and where they are.
struct Submissions {
  TemporaryDirectory place;
  std::array<Submission, 2> submissions = {};
  std::array<Judgement, 2> judgements = {};
  Problem problem = {};
  std::int64_t steps = 0;
  JudgePlan how = {};
};

std::size_t index_of(Side side) { return side == Side::a ? 0 : 1; }

bool has_dtype(const Submission& submission, Dtype dtype) {
  return std::ranges::find(submission.dtypes, dtype) != submission.dtypes.end();
}

Submission prepare_side(Side side, const std::string& file, const fs::path& place) {
  const fs::path folder = place / to_string(side);
  fs::create_directory(folder);
  Submission submission = prepare(file, std::nullopt, {}, folder);
  if (submission.language == Language::cuda) {
    throw InvalidInput(fmt::format(
        "{}: is for a GPU, which is emulated and has no time: diffbench try judges it", file));
  }
  return submission;
}

/// The first that both have, float32 before float64, or the one that was asked for.
Dtype common_dtype(const std::array<Submission, 2>& both, const std::optional<Dtype>& wanted) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    if ((!wanted || *wanted == dtype) && has_dtype(both[0], dtype) && has_dtype(both[1], dtype)) {
      return dtype;
    }
  }
  throw InvalidInput(wanted ? fmt::format("--dtype {}: A and B do not both have functions for it",
                                          to_string(*wanted))
                            : "A has functions for one dtype only, B for the other only");
}

Judgement judged_side(Side side, const Submission& submission, Dtype dtype, const JudgePlan& how,
                      const fs::path& place, Progress& progress) {
  progress.stage(fmt::format("judging {}", to_string(side)));
  Judgement judgement = judge_submission(submission, dtype, how, place / to_string(side),
                                         [&](double fraction) { progress.update(fraction); });
  if (judgement.failed) {
    throw Error(judgement.complaints.front());
  }
  if (!is_right(judgement.verdict)) {
    throw NotVerified(fmt::format("its result is wrong{}; diffbench try says more",
                                  !judgement.mistake.empty() ? ": " + judgement.mistake
                                  : !judgement.complaints.empty()
                                      ? ": " + judgement.complaints.front()
                                      : ""));
  }
  return judgement;
}

template <typename T>
std::unique_ptr<Sampler> start_side(const Submissions& all, Side side) {
  return as_of(to_string(side), [&]() -> std::unique_ptr<Sampler> {
    const std::size_t i = index_of(side);
    return std::make_unique<SubmissionSampler<T>>(
        side,
        start_submission<T>(all.problem, all.submissions[i], all.judgements[i], all.how,
                            all.place.path() / to_string(side)),
        all.steps);
  });
}

} // namespace

bool is_submission(const std::string& word) {
  if (word.find_first_of(" \t\n'\"") != std::string::npos) {
    return false;
  }
  try {
    return language_of(word) != Language::python || ::access(word.c_str(), X_OK) != 0;
  } catch (const InvalidInput&) {
    return false;
  }
}

StepDuel submission_duel(const std::string& a, const std::string& b, const StepPlan& plan,
                         Progress& progress) {
  const auto all = std::make_shared<Submissions>();
  all->steps = plan.steps;
  all->how = {.limits = {.seconds = plan.limit_seconds}, .seed = plan.seed};
  const fs::path& place = all->place.path();
  // Where diffbench is root's, the processes are nobody's, and look below it.
  fs::permissions(place, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  for (const Side side : {Side::a, Side::b}) {
    progress.stage(fmt::format("compiling {}", to_string(side)));
    all->submissions[index_of(side)] =
        as_of(to_string(side), [&] { return prepare_side(side, side == Side::a ? a : b, place); });
  }
  all->problem = plan.problem;
  all->problem.dtype = common_dtype(all->submissions, plan.dtype);
  for (const Side side : {Side::a, Side::b}) {
    const std::size_t i = index_of(side);
    all->judgements[i] = as_of(to_string(side), [&] {
      return judged_side(side, all->submissions[i], all->problem.dtype, all->how, place, progress);
    });
  }
  return {.run =
              [all, pairs = plan.pairs](Side first) {
                return block_of_pairs(first, pairs, [&](Side side) {
                  return with_dtype(all->problem.dtype,
                                    [&]<typename T>(T) { return start_side<T>(*all, side); });
                });
              },
          .work = {all->problem.nx, all->problem.ny, plan.steps, all->problem.dtype}};
}

} // namespace diffbench::bench
