// SPDX-License-Identifier: Apache-2.0
// The results of a class as a page: one HTML file without scripts, in which nothing that a student
// wrote is more than text.
#pragma once

#include "rubric.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// A submission and its points.
struct GradedRow {
  Graded graded;
  Grade grade;
};

[[nodiscard]] std::string class_page(const std::string& folder, const std::vector<GradedRow>& rows);
/// "7.5 of 10"; empty of one that has no points.
[[nodiscard]] std::string points_text(const Grade& grade);

} // namespace diffbench::bench
