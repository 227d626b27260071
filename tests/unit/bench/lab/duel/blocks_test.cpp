// SPDX-License-Identifier: Apache-2.0
#include "duel/blocks.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr VerdictRule duel_asked{.margin = 0.02, .alpha = 0.01};

/// B takes `ratio` times as long as A, each with a scatter of its own.
class TwoPrograms {
 public:
  explicit TwoPrograms(double ratio, double scatter = 0) : ratio_(ratio), scatter_(scatter) {}

  ProgramRun run(Side side) {
    order.push_back(side);
    std::lognormal_distribution<double> noise(0, scatter_);
    const double seconds = (side == Side::b ? ratio_ : 1) * noise(random_);
    now += seconds;
    return {.seconds = seconds, .peak_bytes = {}};
  }
  Block block(Side first) {
    return block_of_runs(first, 1, [&](Side side) { return run(side); });
  }

  std::vector<Side> order;
  double now = 0;

 private:
  double ratio_, scatter_;
  std::mt19937 random_{7};
};

/// All blocks within the limits.
Duel measured(TwoPrograms& machine, const BlockLimits& limits, std::uint64_t seed = 1) {
  Duel duel{.run = [&](Side first) { return machine.block(first); }};
  EXPECT_TRUE(run_blocks(
      duel, duel_asked, limits, seed, [&] { return machine.now; }, [] {}));
  return duel;
}

TEST(Blocks, EndWhenItIsDecided) {
  for (const double ratio : {1.1, 1 / 1.1, 1.0}) {
    TwoPrograms machine(ratio);
    const Duel duel = measured(machine, {.seconds = 1e6});
    EXPECT_TRUE(duel.decided());
    EXPECT_EQ(duel.end, DuelEnd::verdict);
    EXPECT_EQ(duel.blocks.size(), 10) << "the fewest that decide at 1 %";
    EXPECT_NEAR(duel.standing.ratio.value, ratio, 1e-12);
    EXPECT_NEAR(duel.seconds, machine.now, 1e-9);
  }
}

TEST(Blocks, HaveAVerdictOfTheirInterval) {
  const auto verdict = [](double ratio) {
    TwoPrograms machine(ratio);
    return measured(machine, {.seconds = 1e6}).standing.verdict;
  };
  EXPECT_EQ(verdict(1.05), Verdict::slower);
  EXPECT_EQ(verdict(1 / 1.05), Verdict::faster);
  EXPECT_EQ(verdict(1.01), Verdict::same);
}

TEST(Blocks, EndWithTheBudgetOrTheirNumber) {
  TwoPrograms machine(1, 0.5);
  const Duel few = measured(machine, {.seconds = 1e6, .most_blocks = 7});
  EXPECT_EQ(few.blocks.size(), 7);
  EXPECT_EQ(few.end, DuelEnd::blocks);
  TwoPrograms another(1, 0.5);
  const Duel duel = measured(another, {.seconds = 40});
  EXPECT_FALSE(duel.decided());
  EXPECT_EQ(duel.end, DuelEnd::budget);
  EXPECT_LE(another.now, 45); // the last block was expected to fit
  EXPECT_GE(another.now, 30);
  TwoPrograms even(1); // 2 s a block: a fourth would end after 8 s
  EXPECT_EQ(measured(even, {.seconds = 7}).blocks.size(), 3);
  TwoPrograms slow(1);
  EXPECT_EQ(measured(slow, {.seconds = 0.1}).blocks.size(), 1) << "one at least";
}

TEST(Blocks, HaveAStandingOfAllOfThemAtTheEnd) {
  TwoPrograms machine(1.02, 0.5); // near the margin: no verdict
  const Duel duel = measured(machine, {.seconds = 1e6, .most_blocks = 1001});
  ASSERT_EQ(duel.blocks.size(), 1001);
  const Ratio all = ratio_of(duel.quotients(), duel_asked.confidence(), Stopping::sequential);
  EXPECT_EQ(duel.standing.ratio.value, all.value);
  EXPECT_EQ(duel.standing.ratio.interval->low, all.interval->low);
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
    const auto run = [&](Side) {
      const double seconds = (runs++ % 2 == 0 ? 1.0 : 1.1);
      return ProgramRun{.seconds = seconds * std::exp(noise(random)), .peak_bytes = {}};
    };
    Duel duel{.run = [&](Side first) { return block_of_runs(first, 1, run); }};
    double now = 0;
    (void)run_blocks(
        duel, duel_asked, {.seconds = 100}, seed, [&] { return now += 0.5; }, [] {});
    wrong += is_difference(duel.standing.verdict) ? 1 : 0;
  }
  EXPECT_LE(wrong, 4); // 1 expected at most; more than 4 with a probability of 0.3 %
}

TEST(Blocks, OfAnInterruptedRunAreKeptButForTheLast) {
  int runs = 0;
  const auto run = [&](Side) -> ProgramRun {
    if (++runs == 6) {
      throw Interrupted();
    }
    return {.seconds = 1, .peak_bytes = {}};
  };
  Duel duel{.run = [&](Side first) { return block_of_runs(first, 1, run); }};
  EXPECT_FALSE(run_blocks(
      duel, duel_asked, {.seconds = 1e6}, 1, [] { return 0.0; }, [] {}));
  EXPECT_EQ(duel.blocks.size(), 2);
  EXPECT_EQ(duel.end, DuelEnd::interrupt);
}

TEST(Blocks, OfRunsAlternateTheOrderSoThatADriftCancels) {
  std::string order;
  double now = 1;
  const Block block = block_of_runs(Side::b, 4, [&](Side side) {
    order += side == Side::a ? 'A' : 'B';
    now *= 1.1; // the machine becomes slower all the time
    return ProgramRun{.seconds = now * (side == Side::b ? 1.5 : 1), .peak_bytes = {}};
  });
  EXPECT_EQ(order, "BAABBAAB");
  EXPECT_EQ(block.a.runs.size(), 4);
  EXPECT_EQ(block.a.samples[1], block.a.runs[1].seconds);
  EXPECT_NEAR(block.quotient(), 1.5, 1e-12);
}

TEST(Blocks, HaveAsManyPairsAsTheBudgetAffords) {
  EXPECT_EQ(affordable_pairs(0.2, 60), 4);
  EXPECT_EQ(affordable_pairs(0.001, 60), 4);
  EXPECT_EQ(affordable_pairs(1, 60), 2);
  EXPECT_EQ(affordable_pairs(100, 60), 1);
  EXPECT_EQ(affordable_pairs(0, 60), 1);
}

// 5 blocks would be enough at that alpha, and say nothing of the warm-up.
TEST(Blocks, OfProcessesThatMayWarmUpHaveNoVerdictBeforeThatIsKnown) {
  const auto blocks_at = [](std::size_t samples) {
    Duel duel{.run = [&](Side first) {
      return Block{.first = first,
                   .a = {.samples = std::vector(samples, 1.0)},
                   .b = {.samples = std::vector(samples, 1.5)}};
    }};
    (void)run_blocks(
        duel, {.margin = 0.02, .alpha = 0.4}, {.seconds = 1e6}, 1, [] { return 0.0; }, [] {});
    EXPECT_EQ(duel.standing.verdict, Verdict::slower);
    return duel.blocks.size();
  };
  EXPECT_LT(blocks_at(1), blocks_of_warming);
  EXPECT_EQ(blocks_at(9), blocks_of_warming);
}

/// A process whose first samples are slower; each block starts two.
class WarmingProcess final : public Sampler {
 public:
  WarmingProcess(double pace, std::vector<double> first, std::string& log, char name)
      : pace_(pace), first_(std::move(first)), log_(log), name_(name) {}
  double sample() override {
    log_ += name_;
    const double factor = taken_ < first_.size() ? first_[taken_] : 1;
    ++taken_;
    return pace_ * factor;
  }

 private:
  double pace_;
  std::vector<double> first_;
  std::string& log_;
  char name_;
  std::size_t taken_ = 0;
};

Block warming_block(Side first, double ratio, std::vector<double> slow, std::string& log) {
  return block_of_pairs(first, pairs_of_samples, [&](Side side) {
    log += side == Side::a ? 'A' : 'B'; // is started
    return std::make_unique<WarmingProcess>(side == Side::a ? 1 : ratio, slow, log,
                                            side == Side::a ? 'a' : 'b');
  });
}

TEST(Blocks, OfPairsStartBothAnewAndTakeTurns) {
  std::string log;
  const Block block = warming_block(Side::b, 1.5, {}, log);
  EXPECT_EQ(log, "BAbaabbaabbaabbaabba");
  EXPECT_EQ(block.first, Side::b);
  EXPECT_EQ(block.a.samples.size(), pairs_of_samples);
  EXPECT_NEAR(block.quotient(), 1.5, 1e-12);
}

TEST(Blocks, HaveAQuotientThatExchangingTheSidesInverts) {
  const Block block{.a = {.samples = {1, 2, 3, 5}}, .b = {.samples = {2, 1, 7, 6}}};
  const Block exchanged{.a = block.b, .b = block.a};
  EXPECT_DOUBLE_EQ(block.quotient(), 1 / exchanged.quotient());
  EXPECT_DOUBLE_EQ(block.quotient(), std::sqrt(2 * 6.0 / 5)); // of 2, 0.5, 7/3 and 1.2
  EXPECT_DOUBLE_EQ(block.quotient(2), std::sqrt(7 / 3.0 * 6 / 5));
}

TEST(Warming, FirstSamplesThatAreSlowerInAllProcessesAreLeftOut) {
  std::string log;
  Duel duel{.run = [&](Side first) { return warming_block(first, 1.1, {1.5, 1.2}, log); }};
  (void)run_blocks(
      duel, duel_asked, {.seconds = 1e6}, 1, [] { return 0.0; }, [] {});
  ASSERT_TRUE(duel.warming);
  EXPECT_EQ(duel.warming->samples, 2);
  EXPECT_DOUBLE_EQ(duel.warming->longer, 1.5);
  EXPECT_EQ(duel.left_out(), 2);
  EXPECT_NEAR(duel.quotients().front(), 1.1, 1e-12);
}

TEST(Warming, IsInNoQuotient) {
  Duel duel{.run = {},
            .blocks = {{.first = Side::a,
                        .a = {.samples = {1, 1, 1, 1}},
                        .b = {.samples = {9, 8, 2, 4}}}},
            .warming = Warming{.samples = 2}};
  EXPECT_DOUBLE_EQ(duel.quotients().front(), std::sqrt(8));
  EXPECT_EQ(duel.blocks.front().b.seconds(2), 3);
  duel.warming.reset();
  EXPECT_DOUBLE_EQ(duel.quotients().front(), std::sqrt(32));
}

TEST(Warming, IsLookedForOnceByTheFirstBlocks) {
  std::string log;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < blocks_of_warming; ++i) {
    EXPECT_FALSE(warming(blocks));
    blocks.push_back(warming_block(Side::a, 1, {1.5}, log));
  }
  EXPECT_EQ(warming(blocks)->samples, 1);
  blocks[2].b.samples[0] = 0.9; // the mean of the block's two processes is above
  EXPECT_EQ(warming(blocks)->samples, 1);
  blocks[2].b.samples[0] = 0.5; // 9 of 10 blocks are no evidence at 1 %
  EXPECT_EQ(warming(blocks)->samples, 0);
  for (int i = 0; i < 20; ++i) { // later blocks decide nothing
    blocks.push_back(warming_block(Side::a, 1, {1.5}, log));
  }
  EXPECT_EQ(warming(blocks)->samples, 0);
}

TEST(Warming, OfFasterFirstSamplesOrWholeProcessesIsNone) {
  std::string log;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < blocks_of_warming; ++i) {
    blocks.push_back(warming_block(Side::a, 1, {0.5, 0.5}, log));
  }
  EXPECT_EQ(warming(blocks)->samples, 0);
  int taken = 0;
  const std::vector<Block> runs(20, block_of_runs(Side::a, 4, [&](Side) {
                                  return ProgramRun{.seconds = taken++ < 2 ? 2.0 : 1.0,
                                                    .peak_bytes = {}};
                                }));
  EXPECT_FALSE(warming(runs));
}

// Leaving samples out must not cost the promise: equal processes that warm up, with noise.
TEST(Warming, LeavesEqualProcessesWithoutVerdicts) {
  int wrong = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(0, 0.05);
    Duel duel{.run = [&](Side first) {
      Block block{.first = first, .a = {}, .b = {}};
      for (SideReading* reading : {&block.a, &block.b}) {
        const double placement = noise(random);
        for (int i = 0; i < pairs_of_samples; ++i) {
          reading->samples.push_back((i == 0 ? 1.3 : 1) * placement * noise(random));
        }
      }
      return block;
    }};
    (void)run_blocks(
        duel, {.margin = 0.0001, .alpha = 0.05}, {.seconds = 1e6, .most_blocks = 100}, seed,
        [] { return 0.0; }, [] {});
    wrong += is_difference(duel.standing.verdict) ? 1 : 0;
  }
  EXPECT_LE(wrong, 19); // 10 expected at most; more than 19 with a probability of 0.3 %
}

} // namespace
} // namespace diffbench::bench
