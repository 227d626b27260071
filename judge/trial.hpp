// SPDX-License-Identifier: Apache-2.0
// A user's file, tried: compiled, judged and timed. What the verbs try and grade share.
#pragma once

#include "asked_of_card.hpp"
#include "assumed_card.hpp"
#include "comparison_plan.hpp"
#include "judgement.hpp"
#include "option_list.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "submission.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct TrialPlan {
  std::optional<Form> form;
  std::optional<Dtype> dtype;
  CompilerChoice compiler;
  JudgePlan judge;
  std::int64_t memory_mib = 4096;
  bool timing = true;
  std::optional<AssumedCard> assumed;
  ComparisonPlan run;
};

/// All options that say how a file is tried.
void declare_trial(OptionList& options, TrialPlan& plan, std::string_view seed_help);

struct Trial {
  std::string file;
  Submission submission;
  std::vector<Judgement> judgements; ///< by dtype, one at least
  std::optional<ComparisonResult> timing;
  bool timing_undecided = false;    ///< its row failed because all runs together took too long
  std::optional<AskedOfCard> asked; ///< of --assume
};

/// Address space, most of which is never touched: what was freed stays mapped, and every byte has a
/// record of who accessed it.
inline constexpr std::int64_t emulation_bytes = std::int64_t{8} << 30;

/// All processes of a file together may take so many times what one run may.
inline constexpr int runs_in_full = 6;

/// Throws Unavailable where a file of that language that is right cannot be compiled, loaded or run
/// here, or is wrong: then no file is judged.
void try_right_file(Language language, const TrialPlan& plan);

/// What may be the machine's doing is found twice, with try_right_file() between.
/// The judgements of what was asked for, and the time of the first dtype that is right, unless its
/// device is emulated. All processes together may take runs_in_full times --timeout, and twice
/// the budget of the timing besides. Throws what prepare() throws, InvalidInput where the file has
/// not the dtype, Error where no process can be started, and Interrupted.
[[nodiscard]] Trial try_file(const std::filesystem::path& file, const TrialPlan& plan,
                             const std::filesystem::path& work_dir, Progress& progress);

} // namespace diffbench::bench
