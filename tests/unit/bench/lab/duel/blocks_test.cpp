#include "duel/blocks.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr Question question{.margin = 0.02, .alpha = 0.01};

/// B takes `ratio` times as long as A, each with a scatter of its own.
class TwoPrograms {
 public:
  explicit TwoPrograms(double ratio, double scatter = 0) : ratio_(ratio), scatter_(scatter) {}

  Reading run(Side side) {
    order.push_back(side);
    std::lognormal_distribution<double> noise(0, scatter_);
    const double seconds = (side == Side::b ? ratio_ : 1) * noise(random_);
    now += seconds;
    return {.seconds = seconds, .run = {}};
  }

  std::vector<Side> order;
  double now = 0;

 private:
  double ratio_, scatter_;
  std::mt19937 random_{7};
};

/// All blocks within the limits.
Duel measured(TwoPrograms& machine, const BlockLimits& limits, std::uint64_t seed = 1) {
  std::vector<Duel> duels{{.label = "", .run = [&](Side side) { return machine.run(side); }}};
  EXPECT_TRUE(run_blocks(
      duels, question, limits, seed, [&] { return machine.now; }, [] {}));
  return duels.front();
}

TEST(Blocks, EndWhenItIsDecided) {
  for (const double ratio : {1.1, 1 / 1.1, 1.0}) {
    TwoPrograms machine(ratio);
    const Duel duel = measured(machine, {.seconds = 1e6});
    EXPECT_TRUE(duel.decided);
    EXPECT_EQ(duel.blocks.size(), 10) << "the fewest that decide at 1 %";
    EXPECT_NEAR(standing(duel.blocks, question).ratio.value, ratio, 1e-12);
    EXPECT_NEAR(duel.seconds, machine.now, 1e-9);
  }
}

TEST(Blocks, HaveAVerdictOfTheirInterval) {
  const auto verdict = [](double ratio) {
    TwoPrograms machine(ratio);
    return standing(measured(machine, {.seconds = 1e6}).blocks, question).verdict;
  };
  EXPECT_EQ(verdict(1.05), Verdict::slower);
  EXPECT_EQ(verdict(1 / 1.05), Verdict::faster);
  EXPECT_EQ(verdict(1.01), Verdict::same);
}

TEST(Blocks, EndWithTheBudgetOrTheirNumber) {
  TwoPrograms machine(1, 0.5);
  EXPECT_EQ(measured(machine, {.seconds = 1e6, .most_blocks = 7}).blocks.size(), 7);
  TwoPrograms another(1, 0.5);
  const Duel duel = measured(another, {.seconds = 40});
  EXPECT_FALSE(duel.decided);
  EXPECT_LE(another.now, 45); // the last block was expected to fit
  EXPECT_GE(another.now, 30);
  TwoPrograms slow(1);
  EXPECT_EQ(measured(slow, {.seconds = 0.1}).blocks.size(), 1) << "one at least";
}

TEST(Blocks, AreInAnOrderByTheirSeed) {
  const auto order = [](std::uint64_t seed) {
    TwoPrograms machine(1, 0.5);
    (void)measured(machine, {.seconds = 1e6, .most_blocks = 200}, seed);
    return machine.order;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  TwoPrograms machine(1, 0.5);
  const Duel duel = measured(machine, {.seconds = 1e6, .most_blocks = 200});
  int b_first = 0;
  for (std::size_t i = 0; i < duel.blocks.size(); ++i) {
    EXPECT_EQ(duel.blocks[i].first, machine.order[2 * i]);
    EXPECT_NE(machine.order[2 * i], machine.order[2 * i + 1]);
    b_first += duel.blocks[i].first == Side::b ? 1 : 0;
  }
  EXPECT_NEAR(b_first, 100, 40);
}

// What runs second is 10 % slower, whichever it is: the coin makes that harmless.
TEST(Blocks, BearThatTheSecondIsSlower) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::normal_distribution<double> noise(0, 0.01);
    int runs = 0;
    std::vector<Duel> duels{{.label = "", .run = [&](Side) {
                               const double seconds = (runs++ % 2 == 0 ? 1.0 : 1.1);
                               return Reading{.seconds = seconds * std::exp(noise(random)),
                                              .run = {}};
                             }}};
    double now = 0;
    (void)run_blocks(
        duels, question, {.seconds = 100}, seed, [&] { return now += 0.5; }, [] {});
    wrong += is_difference(standing(duels.front().blocks, question).verdict) ? 1 : 0;
  }
  EXPECT_LE(wrong, 4); // 1 expected at most; more than 4 with a probability of 0.3 %
}

TEST(Blocks, OfSeveralDuelsComeInTurnUntilEachIsDecided) {
  TwoPrograms machine(1.1);
  TwoPrograms noisy(1, 0.5);
  std::vector<Duel> duels{{.label = "a", .run = [&](Side side) { return machine.run(side); }},
                          {.label = "b", .run = [&](Side side) { return noisy.run(side); }}};
  EXPECT_TRUE(run_blocks(
      duels, question, {.seconds = 1e6, .most_blocks = 30}, 1,
      [&] { return machine.now + noisy.now; }, [] {}));
  EXPECT_EQ(duels[0].blocks.size(), 10);
  EXPECT_EQ(duels[1].blocks.size(), 30);
}

TEST(Blocks, OfAnInterruptedRunAreKeptButForTheLast) {
  int runs = 0;
  std::vector<Duel> duels{{.label = "", .run = [&](Side) -> Reading {
                             if (++runs == 6) {
                               throw Interrupted();
                             }
                             return {.seconds = 1, .run = {}};
                           }}};
  EXPECT_FALSE(run_blocks(
      duels, question, {.seconds = 1e6}, 1, [] { return 0.0; }, [] {}));
  EXPECT_EQ(duels.front().blocks.size(), 2);
}

TEST(Standing, SaysHowManyBlocksWouldDecide) {
  TwoPrograms machine(1.03, 0.05);
  const Duel duel = measured(machine, {.seconds = 1e6, .most_blocks = 20});
  const Standing found = standing(duel.blocks, question);
  ASSERT_EQ(found.verdict, Verdict::unclear);
  ASSERT_TRUE(found.blocks_to_decide);
  EXPECT_GT(*found.blocks_to_decide, 20);
}

} // namespace
} // namespace diffbench::bench
