// SPDX-License-Identifier: Apache-2.0
#include "least_effect.hpp"

#include "ratio.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace diffbench::bench {
namespace {

TEST(LeastEffect, WrongVerdictsBeyondChanceAreTooMany) {
  EXPECT_FALSE(too_many_wrong(0, 20));
  EXPECT_FALSE(too_many_wrong(1, 20)); // 18 in 100 such tests have one
  EXPECT_FALSE(too_many_wrong(2, 20)); // 17 in 1000
  EXPECT_TRUE(too_many_wrong(3, 20));  // 1 in 1000
  EXPECT_FALSE(too_many_wrong(4, 200));
  EXPECT_TRUE(too_many_wrong(9, 64)); // as on the machine that asked for this
}

TEST(LeastEffect, IsWhatVerdictsWouldHaveHadToAskFor) {
  std::vector<double> excluded(20, 0.0);
  EXPECT_DOUBLE_EQ(identical_code(excluded).least_effect, least_effect_in_run);
  excluded[3] = 0.05; // one or two are chance
  excluded[4] = 0.06;
  EXPECT_EQ(identical_code(excluded).wrong, 2);
  EXPECT_FALSE(identical_code(excluded).too_many());
  EXPECT_DOUBLE_EQ(identical_code(excluded).least_effect, least_effect_in_run);
  excluded[5] = 0.08;
  excluded[6] = 0.07;
  const IdenticalCode restless = identical_code(excluded);
  EXPECT_TRUE(restless.too_many());
  EXPECT_DOUBLE_EQ(restless.least_effect, 0.06); // two lie beyond
  EXPECT_EQ(identical_code(std::vector{0.5}).trials, 1);
}

TEST(LeastEffect, IsKeptForTheMachine) {
  const TemporaryDirectory place;
  const LineCache cache(place.path() / "verdicts");
  EXPECT_FALSE(kept_identical_code(cache));
  keep_identical_code({.trials = 40, .wrong = 5, .least_effect = 0.0625}, cache);
  const auto kept = kept_identical_code(cache);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->trials, 40);
  EXPECT_EQ(kept->wrong, 5);
  EXPECT_DOUBLE_EQ(kept->least_effect, 0.0625);
}

TEST(LeastEffect, FewTrialsDoNotReplaceMany) {
  const TemporaryDirectory place;
  const LineCache cache(place.path() / "verdicts");
  keep_identical_code({.trials = 1000, .wrong = 30, .least_effect = 0.06}, cache);
  keep_identical_code({.trials = 10, .wrong = 0, .least_effect = 0.01}, cache);
  EXPECT_EQ(kept_identical_code(cache)->trials, 1000);
  keep_identical_code({.trials = 20, .wrong = 9, .least_effect = 0.08}, cache);
  EXPECT_EQ(kept_identical_code(cache)->trials, 20) << "they found worse";
  keep_identical_code({.trials = 20, .wrong = 0, .least_effect = 0.01}, cache);
  EXPECT_EQ(kept_identical_code(cache)->wrong, 0);
}

TEST(LeastEffect, AnIntervalExcludesAnEffectOnBothSides) {
  const auto ratio = [](double low, double high) {
    return Ratio{.value = 1, .interval = Interval{low, high, 0.99}};
  };
  EXPECT_DOUBLE_EQ(excluded_effect(ratio(0.9, 1.1)), 0);
  EXPECT_DOUBLE_EQ(excluded_effect(ratio(1.25, 1.5)), 0.25);
  EXPECT_DOUBLE_EQ(excluded_effect(ratio(0.5, 0.8)), 0.25);
  EXPECT_DOUBLE_EQ(excluded_effect({}), 0);
}

} // namespace
} // namespace diffbench::bench
