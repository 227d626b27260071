// SPDX-License-Identifier: Apache-2.0
// What a program asks a card for: foretold from eight runs, and priced.
#include "asked_work.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace diffbench::bench {
namespace {

/// A naive port: in each step a copy up, a launch of 16 x 16 threads, a copy down of row by row.
CountedRun naive_run(double nx, double ny, double steps) {
  CountedRun run{.nx = nx, .ny = ny, .steps = steps, .work = {}};
  Counts<Asked>& counts = run.work.counts;
  counts[Asked::pageable_in_calls] = steps;
  counts[Asked::pageable_in_bytes] = steps * nx * ny * 4;
  counts[Asked::pageable_out_calls] = steps * ny;
  counts[Asked::pageable_out_bytes] = steps * nx * ny * 4;
  counts[Asked::drains] = steps;
  counts[Asked::allocations] = 2;
  AskedKernel kernel{.name = "step", .counts = {}};
  kernel.counts[AskedOfKernel::launches] = steps;
  kernel.counts[AskedOfKernel::asked_bytes] = steps * nx * ny * 24;
  kernel.counts[AskedOfKernel::distinct_bytes] = steps * nx * ny * 8;
  kernel.counts[AskedOfKernel::moved_bytes] = steps * nx * ny * 48;
  kernel.counts[AskedOfKernel::written_bytes] = steps * nx * ny * 4;
  run.work.kernels.push_back(kernel);
  return run;
}

std::vector<CountedRun> corners_of_naive() {
  std::vector<CountedRun> corners;
  for (const double nx : {32, 64}) {
    for (const double ny : {32, 64}) {
      for (const double steps : {4, 12}) {
        corners.push_back(naive_run(nx, ny, steps));
      }
    }
  }
  return corners;
}

/// Both ends alike but for copies from ordinary memory: 10 to 20 GB/s.
AssumedCard made_up_card() {
  const auto both = [](double value) { return Assumption{value, value}; };
  AssumedCard card;
  card.pageable_h2d = card.pageable_d2h = {10e9, 20e9};
  card.pinned_h2d = card.pinned_d2h = both(40e9);
  card.copy_call = both(5e-6);
  card.memory_rate = card.l2_rate = both(1e12);
  card.l2 = both(1e6);
  card.launch = both(2e-6);
  card.graph_launch = both(1e-6);
  card.synchronize = both(10e-6);
  card.pin_byte = both(1e-9);
  card.pin_call = both(1e-4);
  card.float32_rate = card.float64_rate = both(1e15);
  return card;
}

TEST(AskedWork, GrowsWithColumnsRowsAndSteps) {
  const std::vector<CountedRun> corners = corners_of_naive();
  const CountedRun wanted = naive_run(640, 480, 1000);
  const AskedWork work = asked_at(corners, 640, 480, 1000);
  for (std::size_t i = 0; i < work.counts.all().size(); ++i) {
    EXPECT_NEAR(work.counts.all()[i], wanted.work.counts.all()[i],
                1e-9 * wanted.work.counts.all()[i] + 1e-6);
  }
  EXPECT_NEAR(work.kernel("step")[AskedOfKernel::distinct_bytes], 1000.0 * 640 * 480 * 8, 1);
  EXPECT_EQ(work.kernel("other")[AskedOfKernel::launches], 0);
}

TEST(AskedWork, SaysWhatDoesNotGrowEvenly) {
  const std::vector<CountedRun> corners = corners_of_naive();
  CountedRun run = naive_run(96, 80, 4);
  EXPECT_LT(unevenness(corners, run), 1e-9);
  run.work.counts[Asked::pageable_in_calls] *= 2;
  EXPECT_NEAR(unevenness(corners, run), 0.5, 1e-9);
  run = naive_run(96, 80, 4);
  run.work.kernels.front().counts[AskedOfKernel::launches] = 5;
  EXPECT_NEAR(unevenness(corners, run), 0.2, 1e-9);
  // A kernel that small runs do not have, as where the code chooses by size.
  run = naive_run(96, 80, 4);
  run.work.kernels.push_back({.name = "step_of_large", .counts = {}});
  EXPECT_LT(unevenness(corners, run), 1e-9);
  run.work.kernels.back().counts[AskedOfKernel::launches] = 4;
  EXPECT_EQ(unevenness(corners, run), 1);
}

/// The rate of a copy on the card is that of its own size, whatever the others add up to.
TEST(AskedWork, ManyCopiesOnTheCardTakeAsManyTimesAsLong) {
  AssumedCard card = made_up_card();
  card.l2 = {8e6, 8e6};
  card.l2_rate = {4e12, 4e12};
  Problem problem;
  problem.nx = problem.ny = 100;
  const auto seconds = [&](double steps) {
    std::vector<CountedRun> corners = corners_of_naive();
    for (CountedRun& run : corners) {
      run.work = {};
      run.work.counts[Asked::card_copy_calls] = run.steps;
      run.work.counts[Asked::card_copy_bytes] = run.steps * run.nx * run.ny * 4;
    }
    return cost_of(corners, problem, static_cast<std::int64_t>(steps), card).parts.front().seconds;
  };
  EXPECT_NEAR(seconds(1000).low, 1000 * seconds(1).low, 1e-9);
}

TEST(AskedWork, IsPricedAtBothEnds) {
  Problem problem;
  problem.nx = problem.ny = 1000;
  const AskedCost cost = cost_of(corners_of_naive(), problem, 100, made_up_card());
  ASSERT_EQ(cost.parts.size(), 4U); // up, down, waits, the kernel
  EXPECT_EQ(cost.parts[0].kind, PartKind::copies);
  EXPECT_NEAR(cost.parts[0].calls, 100, 1e-6);
  EXPECT_NEAR(cost.parts[0].calls_per_step, 1, 1e-6);
  EXPECT_NEAR(cost.parts[0].seconds.low, 100 * (5e-6 + 4e6 / 20e9), 1e-9);
  EXPECT_NEAR(cost.parts[0].seconds.high, 100 * (5e-6 + 4e6 / 10e9), 1e-9);
  EXPECT_NEAR(cost.parts[1].calls_per_step, 1000, 1e-6); // rows
  // Its sectors once at best; twice at worst, as its warps move twice what its threads ask for.
  EXPECT_EQ(cost.parts[3].kind, PartKind::kernels);
  EXPECT_NEAR(cost.parts[3].seconds.low, 100 * (1e-6 + 8e6 / 1e12), 1e-9);
  EXPECT_NEAR(cost.parts[3].seconds.high, 100 * (1e-6 + 16e6 / 1e12), 1e-9);
  EXPECT_NEAR(cost.excess, 2, 1e-9);
  EXPECT_NEAR(cost.copies_in, 100, 1e-6);
  EXPECT_NEAR(cost.copies_out, 100'000, 1e-3);
  // The copies of the steps, and the waits for them, are gone.
  EXPECT_NEAR(cost.resident_seconds.low, cost.parts[3].seconds.low, 1e-9);
  EXPECT_NEAR(cost.seconds.high,
              cost.parts[0].seconds.high + cost.parts[1].seconds.high + cost.parts[2].seconds.high +
                  cost.parts[3].seconds.high,
              1e-9);
  EXPECT_NEAR(cost.step_seconds.low * 100, cost.seconds.low, 1e-6);
  EXPECT_EQ(cost.allocations_per_step, 0);
}

TEST(AskedWork, OfManyLaunchesIsBoundByThem) {
  Problem problem;
  problem.nx = problem.ny = 64;
  const AskedCost cost = cost_of(corners_of_naive(), problem, 100, made_up_card());
  EXPECT_EQ(cost.parts.back().kind, PartKind::launches);
  EXPECT_NEAR(cost.parts.back().seconds.low, 100 * 2e-6, 1e-9);
}

/// The corners with each kernel changed.
template <typename Change>
std::vector<CountedRun> changed_corners(const Change& change) {
  std::vector<CountedRun> corners = corners_of_naive();
  for (CountedRun& corner : corners) {
    change(corner.work);
  }
  return corners;
}

TEST(AskedWork, OfThrustHasNoExcess) {
  Problem problem;
  problem.nx = problem.ny = 1000;
  const auto corners =
      changed_corners([](AskedWork& work) { work.kernels.front().name = "thrust::reduce"; });
  const AskedCost cost = cost_of(corners, problem, 100, made_up_card());
  EXPECT_EQ(cost.excess, 1);
  EXPECT_NEAR(cost.parts[3].seconds.high, 100 * (1e-6 + 8e6 / 1e12), 1e-9);
}

TEST(AskedWork, OfTheHostsMemoryGoesThroughTheLink) {
  Problem problem;
  problem.nx = problem.ny = 1000;
  // No copies: the kernel reads and writes the host's arrays, and its warps move six times what
  // they read.
  const auto corners = changed_corners([](AskedWork& work) {
    work.counts = {};
    Counts<AskedOfKernel>& kernel = work.kernels.front().counts;
    const double cells = kernel[AskedOfKernel::written_bytes];
    kernel[AskedOfKernel::mapped_in_bytes] = kernel[AskedOfKernel::mapped_out_bytes] = cells;
    kernel[AskedOfKernel::mapped_in_moved] = 6 * cells;
    kernel[AskedOfKernel::mapped_out_moved] = cells;
    for (const auto of_card :
         {AskedOfKernel::asked_bytes, AskedOfKernel::distinct_bytes, AskedOfKernel::moved_bytes}) {
      kernel[of_card] = 0;
    }
  });
  const AskedCost cost = cost_of(corners, problem, 100, made_up_card());
  ASSERT_EQ(cost.parts.size(), 1U);
  EXPECT_EQ(cost.parts[0].kind, PartKind::mapped);
  EXPECT_EQ(cost.parts[0].what, "kernel step, host's memory");
  EXPECT_NEAR(cost.parts[0].bytes_per_step, 8e6, 1e-3);
  EXPECT_NEAR(cost.seconds.low, 100 * (1e-6 + 4e6 / 40e9), 1e-9);      // both ways at once
  EXPECT_NEAR(cost.seconds.high, 100 * (1e-6 + 7 * 4e6 / 40e9), 1e-9); // nothing is kept
  EXPECT_NEAR(cost.resident_seconds.high, 100 * (1e-6 + 8e6 / 1e12), 1e-9);
}

} // namespace
} // namespace diffbench::bench
