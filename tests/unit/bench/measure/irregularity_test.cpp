// SPDX-License-Identifier: Apache-2.0
#include "irregularity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace diffbench::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int samples = 20;

/// The times of a row of which sample i takes shape(i), but for 1 % of noise.
std::vector<double> times(std::mt19937& random, const std::function<double(int)>& shape) {
  std::normal_distribution<double> noise(1, 0.01);
  std::vector<double> result;
  for (int i = 0; i < samples; ++i) {
    result.push_back(shape(i) * noise(random));
  }
  return result;
}

/// Of a hundred rows, those with exactly `wanted`.
int rows_with(Irregularity wanted, const std::function<double(int)>& shape) {
  std::mt19937 random(1);
  int count = 0;
  for (int row = 0; row < 100; ++row) {
    count += irregularities(times(random, shape)) == std::vector{wanted} ? 1 : 0;
  }
  return count;
}

TEST(Irregularities, EachKindIsFoundAndTakenForNoOther) {
  EXPECT_GE(rows_with(Irregularity::slow_first, [](int i) { return i == 0 ? 1.5 : 1.0; }), 95);
  EXPECT_GE(rows_with(Irregularity::drift, [](int i) { return 1 + 0.01 * i; }), 95);
  EXPECT_GE(rows_with(Irregularity::drift, [](int i) { return 1 - 0.01 * i; }), 95);
  EXPECT_GE(rows_with(Irregularity::two_levels, [](int i) { return i % 3 == 1 ? 1.2 : 1.0; }), 95);
  EXPECT_GE(rows_with(Irregularity::strays, [](int i) { return i == 7 || i == 9 ? 1.5 : 1.0; }),
            95);
}

TEST(Irregularities, ChanceIsNone) {
  std::mt19937 random(2);
  int found = 0;
  for (int row = 0; row < 1000; ++row) {
    found += irregularities(times(random, [](int) { return 1.0; })).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 20);
}

TEST(Irregularities, SmallDeviationsAreNotReported) {
  std::vector<double> rising;
  for (int i = 0; i < samples; ++i) {
    rising.push_back(1 + 1e-3 * i); // without doubt, but 2 % in all
  }
  EXPECT_THAT(irregularities(rising), IsEmpty());
}

TEST(Irregularities, FewSamplesShowNone) {
  EXPECT_THAT(irregularities({}), IsEmpty());
  EXPECT_THAT(irregularities(std::vector<double>{9, 1, 1, 1}), IsEmpty());
  EXPECT_THAT(irregularities(std::vector<double>(samples, 1.0)), IsEmpty()); // no scatter at all
}

TEST(IrregularityNotes, NameTheRowsAndWhatItHintsAt) {
  auto row = [](const std::string& name, const std::vector<double>& seconds) {
    Row result;
    result.name = name;
    for (const double each : seconds) {
      result.samples.push_back({.iterations = 1, .seconds = each, .cpu_seconds = {}});
    }
    return result;
  };
  const std::vector<Row> rows{row("one", {3, 1, 1, 1, 1}), row("two", {1, 1, 1, 1, 1}),
                              row("three", {2, 1, 1, 1, 1}), row("none", {})};
  EXPECT_THAT(irregularity_notes(rows),
              ElementsAre(AllOf(HasSubstr("one, three"), HasSubstr("warm"))));
}

TEST(Irregularities, HaveNames) {
  EXPECT_EQ(to_string(Irregularity::slow_first), "slow_first");
  EXPECT_EQ(to_string(Irregularity::drift), "drift");
  EXPECT_EQ(to_string(Irregularity::two_levels), "two_levels");
  EXPECT_EQ(to_string(Irregularity::strays), "strays");
}

} // namespace
} // namespace diffbench::bench
