// SPDX-License-Identifier: Apache-2.0
// A submission as a row of the comparison. Every sample starts from a field that nobody has seen
// before, its time ends when the result has come, and this very result is compared afterwards: no
// result can be kept from an earlier run, or be computed later.
#pragma once

#include "comparison_plan.hpp"
#include "judgement.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "submission.hpp"
#include "timed_solve.hpp"
#include "tried_process.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace diffbench::bench {

/// Seconds below which no program on this machine computes so many cells: six operations a cell, by
/// vectors in two units of every CPU, at a clock that none has.
[[nodiscard]] double least_seconds(std::int64_t cells, std::int64_t steps, Dtype dtype, int cpus);

/// Starts a right submission in a process of its own. Each sample() is compared with the oracle
/// afterwards, and an Error where it is wrong, or faster than anything can be. `submission`
/// outlives it. Throws as TriedProcess does, and Unavailable in a build without a backend that
/// could be the oracle.
template <typename T>
[[nodiscard]] std::unique_ptr<TimedSolve<T>> start_submission(
    const Problem& problem, const Submission& submission, const Judgement& judgement,
    const JudgePlan& how, const std::filesystem::path& work_dir);

/// Runs a right submission in the same rounds as others: NumPy (where python3 has it), `xtensor`,
/// `fused` and `simd`, as far as the build has them. Its row is the first and has the name
/// `row_name`; its time holds both copies of the field. Throws Interrupted.
[[nodiscard]] ComparisonResult time_submission(const ComparisonPlan& plan,
                                               const Submission& submission,
                                               const Judgement& judgement,
                                               const std::string& row_name, const JudgePlan& how,
                                               const std::filesystem::path& work_dir,
                                               Progress& progress);

} // namespace diffbench::bench
