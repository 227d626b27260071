// SPDX-License-Identifier: Apache-2.0
// `diffbench try DIR`: all submissions of a folder tried, and given points by a rubric.
#pragma once

#include "lab_report.hpp"
#include "option_list.hpp"
#include "rubric.hpp"
#include "trial.hpp"

#include <string>

namespace diffbench::bench {

struct ClassPlan {
  std::string rubric_file;
  bool print_rubric = false;
  Rubric rubric = default_rubric();
};
void declare_class(OptionList& options, ClassPlan& plan);
/// Reads the rubric. Throws InvalidInput.
void complete(ClassPlan& plan);

/// Ends early, and says so, after Ctrl-C. Throws InvalidInput for a folder without submissions.
[[nodiscard]] LabReport class_report(const std::string& folder, const ClassPlan& plan,
                                     TrialPlan trial, Progress& progress);

} // namespace diffbench::bench
