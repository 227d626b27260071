// SPDX-License-Identifier: Apache-2.0
#include "compare/change_points.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <random>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Stretches of a level and a length, one after the other, with noise of 1 %.
struct Stretch {
  double level;
  int length;
};
std::vector<double> series(std::vector<Stretch> stretches, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<double> figures;
  for (const auto& [level, length] : stretches) {
    for (int i = 0; i < length; ++i) {
      figures.push_back(level + noise(random));
    }
  }
  return figures;
}

TEST(ChangePoints, AreWhereTheLevelChanged) {
  EXPECT_THAT(change_points(series({{1, 20}, {1.1, 20}}, 1), 0.01), ElementsAre(20));
  EXPECT_THAT(change_points(series({{1, 15}, {1.1, 15}, {0.9, 15}}, 2), 0.01), ElementsAre(15, 30));
  EXPECT_THAT(change_points(series({{1, 20}, {1.5, 12}, {1.7, 12}}, 4), 0.01), ElementsAre(20, 32));
  EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, 0.01),
              ElementsAre(5));
}

TEST(ChangePoints, AreNoneInFewOrEqualFigures) {
  EXPECT_THAT(change_points({}, 0.01), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>{1, 2, 3}, 0.01), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 9, 9, 9}, 0.01), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(30, 1.0), 0.01), IsEmpty());
}

TEST(ChangePoints, AreNotMadeByOneStrayRun) {
  std::vector<double> figures = series({{1, 40}}, 3);
  figures[20] = 5;
  EXPECT_THAT(change_points(figures, 0.01), IsEmpty());
}

TEST(ChangePoints, AreFoundInSteadySeriesAsRarelyAsPromised) {
  constexpr double alpha = 0.05;
  int wrong = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    wrong += change_points(series({{1, 24}}, 100 + seed), alpha).empty() ? 0 : 1;
  }
  EXPECT_LE(wrong, 19); // 10 expected; more than 19 with a probability of 0.3 %
  EXPECT_GE(wrong, 2);  // one that never speaks would be too strict
}

} // namespace
} // namespace diffbench::bench
