// SPDX-License-Identifier: Apache-2.0
// From where on one row beats another.
#include "crossover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The champion takes a second; the challenger `seconds`, give or take.
Contest contest(double size, double seconds, double noise = 0) {
  std::vector<double> champion, challenger;
  for (int i = -5; i <= 5; ++i) {
    champion.push_back(1 + noise * i / 5);
    challenger.push_back(seconds * (1 + noise * i / 5));
  }
  return {.size = size, .ratio = ratio_apart(challenger, champion)};
}

/// With so small an effect that counts that figures of a test come out even.
std::optional<Crossover> crossover_of(const std::vector<Contest>& contests) {
  return find_crossover(contests, 0);
}

TEST(Crossover, LiesBetweenTheSizesWhereTheRatioPassesOne) {
  const std::vector contests{contest(64, 4), contest(128, 2), contest(512, 0.5)};
  const Crossover crossover = *crossover_of(contests);
  EXPECT_NEAR(crossover.size, 256, 1e-9); // a straight line in the logarithms
  EXPECT_NEAR(crossover.low, 256, 1e-9);  // without noise there is no doubt
  EXPECT_NEAR(crossover.high, 256, 1e-9);
  EXPECT_TRUE(crossover.single);
  EXPECT_EQ(to_text(crossover), "256");
}

TEST(Crossover, HasAnIntervalThatGrowsWithTheNoise) {
  auto width = [](double noise) {
    const std::vector contests{contest(128, 2, noise), contest(512, 0.5, noise)};
    const Crossover crossover = *crossover_of(contests);
    EXPECT_LT(crossover.low, crossover.size);
    EXPECT_GT(crossover.high, crossover.size);
    return std::log(crossover.high / crossover.low);
  };
  EXPECT_GT(width(0.2), 2 * width(0.05));
}

TEST(Crossover, CoversTheTruthInMostReplicas) {
  // Samples of known distribution: the ratio is 2 at 128 and 1/2 at 512, so the truth is 256.
  unsigned state = 12345;
  auto random = [&state] { // Numerical Recipes' generator: any will do
    state = state * 1664525U + 1013904223U;
    return (state >> 8) / 16777216.0;
  };
  int covered = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<Contest> contests;
    for (const auto& [size, ratio] : {std::pair{128.0, 2.0}, std::pair{512.0, 0.5}}) {
      std::vector<double> champion, challenger;
      for (int k = 0; k < 20; ++k) {
        champion.push_back(0.8 + 0.4 * random());
        challenger.push_back(ratio * (0.8 + 0.4 * random()));
      }
      contests.push_back({.size = size, .ratio = ratio_apart(challenger, champion)});
    }
    const Crossover crossover = *crossover_of(contests);
    covered += crossover.low <= 256 && 256 <= crossover.high ? 1 : 0;
  }
  EXPECT_GE(covered, 50);
}

TEST(Crossover, MayBeOutsideOfWhatWasMeasured) {
  const Crossover everywhere = *crossover_of({contest(64, 0.5), contest(128, 0.2)});
  EXPECT_EQ(everywhere.size, 0);
  EXPECT_EQ(to_text(everywhere), "everywhere");
  const Crossover nowhere = *crossover_of({contest(64, 4), contest(128, 2)});
  EXPECT_EQ(nowhere.size, infinity);
  EXPECT_EQ(to_text(nowhere), "nowhere");
  EXPECT_FALSE(find_crossover({}));
}

TEST(Crossover, SaysWhenNoiseLeavesItOpen) {
  const Crossover crossover = *crossover_of({contest(64, 4), contest(128, 0.99, 0.3)});
  EXPECT_GT(crossover.size, 64);
  EXPECT_EQ(crossover.high, infinity);
  EXPECT_THAT(to_text(crossover), testing::ContainsRegex("^[0-9.]+ \\(at least [0-9.]+\\)$"));
}

TEST(Crossover, SamplesThatAreTooFewShowNoWin) {
  const Crossover one =
      *find_crossover(std::vector<Contest>{{.size = 64, .ratio = {.value = 2, .interval = {}}},
                                           {.size = 128, .ratio = {.value = 0.5, .interval = {}}}});
  EXPECT_NEAR(one.size, std::sqrt(64 * 128), 1e-9);
  EXPECT_EQ(one.low, 0);
  EXPECT_EQ(one.high, infinity);
  EXPECT_THAT(to_text(one), testing::EndsWith(" (not settled)"));
  // At the size between two that are known nothing is.
  const Crossover gap = *find_crossover(
      std::vector<Contest>{contest(64, 2), {.size = 128, .ratio = {}}, contest(256, 0.5)});
  EXPECT_EQ(gap.low, 64);
  EXPECT_EQ(gap.high, 256);
}

TEST(Crossover, LessThanTheLeastEffectIsNoWin) {
  const std::vector contests{contest(64, 2), contest(128, 0.99)};
  EXPECT_LT(find_crossover(contests, 0.001)->high, 128);
  EXPECT_EQ(find_crossover(contests, 0.02)->high, infinity);
}

TEST(Crossover, OpenEndsAreToldAsSuch) {
  EXPECT_EQ(to_text({.size = 380, .low = 361, .high = 413}), "380 (361 to 413)");
  EXPECT_EQ(to_text({.size = 380, .low = 0, .high = 413}), "380 (at most 413)");
  EXPECT_EQ(to_text({.size = infinity, .low = 289, .high = infinity}), "nowhere (or from 289)");
  EXPECT_EQ(to_text({.size = 0, .low = 0, .high = 637}), "everywhere (or from 637)");
  EXPECT_EQ(to_text({.size = infinity, .low = 0, .high = infinity}), "nowhere (not settled)");
  EXPECT_EQ(doubt_text({.size = 0, .low = 0, .high = 0}), "");
  EXPECT_EQ(doubt_text({.size = 0, .low = 0, .high = 637}, "parameters"),
            "; by the scatter of the samples perhaps only from 637 parameters on");
  EXPECT_EQ(doubt_text({.size = infinity, .low = 289, .high = infinity}),
            "; by the scatter of the samples perhaps from 289 on");
  EXPECT_EQ(doubt_text({.size = infinity, .low = 0, .high = infinity}),
            "; the scatter of the samples leaves that open");
}

TEST(Crossover, OfSeveralIsTheLast) {
  const Crossover crossover =
      *crossover_of({contest(64, 0.5), contest(128, 2), contest(256, 0.5), contest(512, 0.4)});
  EXPECT_NEAR(crossover.size, std::sqrt(128 * 256), 1e-9);
  EXPECT_FALSE(crossover.single);
}

TEST(Crossover, NanNeverWins) { EXPECT_EQ(crossover_of({contest(64, NAN)})->size, infinity); }

} // namespace
} // namespace diffbench::bench
