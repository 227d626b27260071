// SPDX-License-Identifier: Apache-2.0
// Programs with one classic bug each, and the proof that the emulation finds it.
//
// A mutant is a function template over `bool Bug`: with false it is right and must be clean under
// every seed, so that it is the bug that is found and nothing else. It returns whether its result
// was right.
#pragma once

#include "../device_vector.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::emulation {

/// What the seeds brought to light.
struct Findings {
  int wrong_results = 0;
  int runs_with_reports = 0;
  std::string reports; ///< all of them, a line each
};

template <typename Program>
Findings run_under_every_seed(Program program) {
  Findings found;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Settings settings;
    settings.seed = seed;
    reset(settings);
    const bool right = program();
    const auto reports = take_reports();
    found.wrong_results += right ? 0 : 1;
    found.runs_with_reports += reports.empty() ? 0 : 1;
    for (const std::string& report : reports) {
      found.reports += report + "\n";
    }
  }
  reset();
  return found;
}

template <typename Program>
void expect_clean(Program program) {
  const Findings found = run_under_every_seed(program);
  EXPECT_EQ(found.wrong_results, 0);
  EXPECT_EQ(found.reports, "");
}

/// Some seed makes the result wrong.
template <typename Program>
void expect_wrong_result(Program program) {
  EXPECT_GT(run_under_every_seed(program).wrong_results, 0);
}

/// Every seed brings a report that matches the regular expression.
template <typename Program>
void expect_report(Program program, const std::string& expression) {
  const Findings found = run_under_every_seed(program);
  EXPECT_EQ(found.runs_with_reports, static_cast<int>(seeds));
  EXPECT_THAT(found.reports, testing::ContainsRegex(expression));
}

/// The process dies with a message that matches: what the address sanitizer and guarded pages do.
/// Where a report comes instead (no sanitizer, and the access stays within the page), that counts
/// as well.
template <typename Program>
void expect_death_or_report(Program program, const std::string& expression) {
  testing::GTEST_FLAG(death_test_style) = "fast";
  EXPECT_DEATH(
      {
        reset();
        program();
        if (!take_reports().empty()) { // already on stderr
          std::_Exit(1);
        }
      },
      expression);
}

} // namespace diffbench::emulation
