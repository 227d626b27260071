// SPDX-License-Identifier: Apache-2.0
// Each race is found in every run, whatever its schedule, with its kernel and its lines; and the
// program without it is clean.
#include "race_mutants.hpp"

#include "emulation/control.hpp"

#include <cstdint>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::emulation {
namespace {

std::vector<std::string> reports(void (*program)(), std::uint64_t seed) {
  reset({.seed = seed});
  program();
  return take_reports();
}

// Those of race_mutants.cu.
const std::vector<std::string>& source() {
  static const std::vector<std::string> lines = [] {
    std::ifstream file(DIFFBENCH_RACE_MUTANTS);
    std::vector<std::string> read;
    for (std::string line; std::getline(file, line);) {
      read.push_back(line);
    }
    return read;
  }();
  return lines;
}

// How many marked lines of race_mutants.cu a report names; a line that is not marked fails.
int marked_lines(const std::string& report) {
  static const std::regex place(" at race_mutants.cu:([0-9]+)");
  int marked = 0;
  for (std::sregex_iterator at(report.begin(), report.end(), place), end; at != end; ++at) {
    EXPECT_THAT(source().at(std::stoul((*at)[1]) - 1), testing::HasSubstr("// races")) << report;
    ++marked;
  }
  return marked;
}

class RaceMutantTest : public testing::TestWithParam<RaceMutant> {};

TEST_P(RaceMutantTest, IsFoundInEveryRunAndNothingElse) {
  const RaceMutant& mutant = GetParam();
  const bool with_a_line = std::string(mutant.other).empty();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    EXPECT_THAT(reports(mutant.clean, seed), testing::IsEmpty()) << "seed " << seed;
    std::vector<std::string> races = reports(mutant.racing, seed);
    std::erase_if(races, [](const std::string& report) { return !report.starts_with("race on "); });
    EXPECT_THAT(races, testing::Not(testing::IsEmpty())) << "seed " << seed;
    for (const std::string& report : races) {
      EXPECT_THAT(report, testing::HasSubstr(std::string("::") + mutant.kernel));
      EXPECT_THAT(report, testing::HasSubstr(mutant.other));
      EXPECT_EQ(marked_lines(report), with_a_line ? 2 : 1) << report;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RaceMutantTest, testing::ValuesIn(race_mutants()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             c = c == ' ' ? '_' : c;
                           }
                           return name;
                         });

} // namespace
} // namespace diffbench::emulation
