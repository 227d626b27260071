// SPDX-License-Identifier: Apache-2.0
// Whether a submission is right, and if not, why: it runs on fields that it has never seen, and the
// oracle's relatives (variation.hpp) explain what it gives.
#pragma once

#include "device_costs.hpp"
#include "device_findings.hpp"
#include "diffbench/name_table.hpp"
#include "explanation.hpp"
#include "submission.hpp"
#include "tried_process.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

enum class TryVerdict {
  same_bits,
  contracted,
  rounding,
  wrong,
  undecided ///< its runs took too long together, and those that were made are right
};
inline constexpr NameTable<TryVerdict, 5> try_verdict_names{
    "verdict",
    {{{TryVerdict::same_bits, "the same bits"},
      {TryVerdict::contracted, "right, contracted"},
      {TryVerdict::rounding, "right within rounding"},
      {TryVerdict::wrong, "wrong"},
      {TryVerdict::undecided, "not decided"}}}};
[[nodiscard]] constexpr std::string_view to_string(TryVerdict verdict) {
  return try_verdict_names.name(verdict);
}
[[nodiscard]] constexpr bool is_right(TryVerdict verdict) {
  return verdict != TryVerdict::wrong && verdict != TryVerdict::undecided;
}

/// Of one dtype.
struct Judgement {
  Dtype dtype = Dtype::float32;
  TryVerdict verdict = TryVerdict::wrong;
  std::string arithmetic;                 ///< in which other order it computes, where that is known
  std::int64_t max_ulps = 0;              ///< of right ones, at most
  std::int64_t runs = 0;                  ///< that were made
  Boundary boundary = Boundary::periodic; ///< that it is judged on first
  std::vector<Boundary> boundaries;       ///< that it knows besides periodic ones
  std::int64_t schedules = 0;             ///< and under so many other orders of threads and blocks
  std::string mistake_id;                 ///< of a wrong one; empty: not explained
  std::string mistake;                    ///< the same as a sentence
  std::string advice;                     ///< what to look at
  bool failed = false;                    ///< it crashed, hung, or could not be loaded or run
  bool doubtful = false;                  ///< and that in a way in which the machine makes it fail
  std::vector<std::string> complaints; ///< what else it does that it may not, or why it did not run
  std::optional<WrongCells> wrong;
  std::string unprotected;             ///< TriedProcess::unprotected()
  std::vector<DeviceFinding> findings; ///< of an emulated device
  Value counts;                     ///< what the code has asked that device for; null without one
  std::optional<DeviceCosts> costs; ///< the same by run and step; empty where no two runs tell
};

struct JudgePlan {
  TryLimits limits;
  std::uint64_t seed = 0;      ///< of the fields
  bool brief = false;          ///< for code that is emulated
  std::int64_t schedules = 4;  ///< of such code: other orders of its threads and blocks
  std::int64_t nx = 0, ny = 0; ///< and a grid on which its launches are checked; 0: none
};

/// `on_progress(fraction)` is called after each run. Throws Interrupted, and Error where no process
/// can be started.
[[nodiscard]] Judgement judge_submission(const Submission& submission, Dtype dtype,
                                         const JudgePlan& plan,
                                         const std::filesystem::path& work_dir,
                                         const std::function<void(double)>& on_progress);

/// Fills it with secret cells of [0, 1).
template <typename T>
void fill_secret(Field<T>& field, std::uint64_t seed);

} // namespace diffbench::bench
