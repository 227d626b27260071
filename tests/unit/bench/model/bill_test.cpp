// SPDX-License-Identifier: Apache-2.0
// What a program asks a card for: foretold from eight runs, and priced.
#include "bill.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace diffbench::bench {
namespace {

/// A naive port: in each step a copy up, a launch of 16 x 16 threads, a copy down of row by row.
CountedRun naive_run(double nx, double ny, double steps) {
  CountedRun run{.nx = nx, .ny = ny, .steps = steps, .counts = {}};
  Counts<CardCount>& counts = run.counts.counts;
  counts[CardCount::pageable_in_calls] = steps;
  counts[CardCount::pageable_in_bytes] = steps * nx * ny * 4;
  counts[CardCount::pageable_out_calls] = steps * ny;
  counts[CardCount::pageable_out_bytes] = steps * nx * ny * 4;
  counts[CardCount::drains] = steps;
  counts[CardCount::allocations] = 2;
  CountedKernel kernel{.name = "step", .counts = {}};
  kernel.counts[KernelCount::launches] = steps;
  kernel.counts[KernelCount::asked_bytes] = steps * nx * ny * 24;
  kernel.counts[KernelCount::distinct_bytes] = steps * nx * ny * 8;
  kernel.counts[KernelCount::moved_bytes] = steps * nx * ny * 48;
  kernel.counts[KernelCount::written_bytes] = steps * nx * ny * 4;
  run.counts.kernels.push_back(kernel);
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

struct Priced {
  Bill run, step, resident;
};
Priced priced(const std::vector<CountedRun>& corners, double side, double steps,
              const AssumedCard& card) {
  const CellWork work = stencil_work(Dtype::float32);
  const auto bill = [&](const CardCounts& counts, double of_steps) {
    return bill_of(card, counts, work, side * side * of_steps);
  };
  return {bill(card_counts_at(corners, side, side, steps), steps),
          bill(counts_of_step(corners, side, side, steps), 1),
          bill(resident_counts(corners, side, side, steps), steps)};
}

TEST(Bill, GrowsWithColumnsRowsAndSteps) {
  const std::vector<CountedRun> corners = corners_of_naive();
  const CountedRun wanted = naive_run(640, 480, 1000);
  const CardCounts work = card_counts_at(corners, 640, 480, 1000);
  for (std::size_t i = 0; i < work.counts.all().size(); ++i) {
    EXPECT_NEAR(work.counts.all()[i], wanted.counts.counts.all()[i],
                1e-9 * wanted.counts.counts.all()[i] + 1e-6);
  }
  EXPECT_NEAR(work.kernel("step")[KernelCount::distinct_bytes], 1000.0 * 640 * 480 * 8, 1);
  EXPECT_EQ(work.kernel("other")[KernelCount::launches], 0);
}

TEST(Bill, SaysWhatDoesNotGrowEvenly) {
  const std::vector<CountedRun> corners = corners_of_naive();
  CountedRun run = naive_run(96, 80, 4);
  EXPECT_LT(unevenness(corners, run), 1e-9);
  run.counts.counts[CardCount::pageable_in_calls] *= 2;
  EXPECT_NEAR(unevenness(corners, run), 0.5, 1e-9);
  run = naive_run(96, 80, 4);
  run.counts.kernels.front().counts[KernelCount::launches] = 5;
  EXPECT_NEAR(unevenness(corners, run), 0.2, 1e-9);
  // A kernel that small runs do not have, as where the code chooses by size.
  run = naive_run(96, 80, 4);
  run.counts.kernels.push_back({.name = "step_of_large", .counts = {}});
  EXPECT_LT(unevenness(corners, run), 1e-9);
  run.counts.kernels.back().counts[KernelCount::launches] = 4;
  EXPECT_EQ(unevenness(corners, run), 1);
}

/// The rate of a copy on the card is that of its own size, whatever the others add up to.
TEST(Bill, ManyCopiesOnTheCardTakeAsManyTimesAsLong) {
  AssumedCard card = made_up_card();
  card.l2 = {8e6, 8e6};
  card.l2_rate = {4e12, 4e12};
  const auto seconds = [&](double steps) {
    std::vector<CountedRun> corners = corners_of_naive();
    for (CountedRun& run : corners) {
      run.counts = {};
      run.counts.counts[CardCount::card_copy_calls] = run.steps;
      run.counts.counts[CardCount::card_copy_bytes] = run.steps * run.nx * run.ny * 4;
    }
    return priced(corners, 100, steps, card).run.parts.front().seconds;
  };
  EXPECT_NEAR(seconds(1000).low, 1000 * seconds(1).low, 1e-9);
}

TEST(Bill, IsPricedAtBothEnds) {
  const auto [run, step, resident] = priced(corners_of_naive(), 1000, 100, made_up_card());
  ASSERT_EQ(run.parts.size(), 5U); // up, down, launches, the kernel, waits
  EXPECT_EQ(run.parts[0].kind, PartKind::copies_up);
  EXPECT_NEAR(run.parts[0].calls, 100, 1e-6);
  EXPECT_NEAR(step.parts[0].calls, 1, 1e-6);
  EXPECT_NEAR(run.parts[0].seconds.low, 100 * (5e-6 + 4e6 / 20e9), 1e-9);
  EXPECT_NEAR(run.parts[0].seconds.high, 100 * (5e-6 + 4e6 / 10e9), 1e-9);
  EXPECT_NEAR(step.parts[1].calls, 1000, 1e-6); // rows
  // Each launch follows a wait, and is followed by its kernel.
  EXPECT_NEAR(run.of(PartKind::launches).seconds.low, 100 * (2e-6 + 1e-6), 1e-9);
  // Its sectors once at best; twice at worst, as its warps move twice what its threads ask for.
  EXPECT_NEAR(run.of(PartKind::memory).seconds.low, 100 * 8e6 / 1e12, 1e-9);
  EXPECT_NEAR(run.of(PartKind::memory).seconds.high, 100 * 16e6 / 1e12, 1e-9);
  EXPECT_NEAR(run.excess, 2, 1e-9);
  // The copies of the steps, and the waits for them, are gone.
  EXPECT_NEAR(resident.seconds.low, 100 * (1e-6 + 8e6 / 1e12), 1e-9);
  double sum = 0;
  for (const BillPart& part : run.parts) {
    sum += part.seconds.high;
  }
  EXPECT_NEAR(run.seconds.high, sum, 1e-9);
  EXPECT_NEAR(step.seconds.low * 100, run.seconds.low, 1e-6);
}

TEST(Bill, OfManyLaunchesIsBoundByThem) {
  const Bill run = priced(corners_of_naive(), 64, 100, made_up_card()).resident;
  ASSERT_EQ(run.parts.size(), 1U); // kernels pass while the host launches the next ones
  EXPECT_EQ(run.parts.front().kind, PartKind::launches);
  EXPECT_NEAR(run.seconds.low, 100 * 2e-6, 1e-9);
}

/// What comes up passes at the rate of one direction, what goes down at that of the other.
TEST(Bill, CopiesBesideKernelsHaveTheRateOfTheirDirection) {
  AssumedCard card = made_up_card();
  card.pinned_d2h = {10e9, 10e9};
  for (const bool up : {true, false}) {
    CardCounts counts;
    counts.counts[up ? CardCount::locked_in_calls : CardCount::locked_out_calls] = 1;
    counts.counts[up ? CardCount::locked_in_bytes : CardCount::locked_out_bytes] = 4e6;
    counts.counts[up ? CardCount::async_in_calls : CardCount::async_out_calls] = 1;
    counts.counts[up ? CardCount::async_in_bytes : CardCount::async_out_bytes] = 4e6;
    counts.kernels.push_back({.name = "step", .counts = {}});
    counts.kernels.front().counts[KernelCount::launches] = 1000;
    const Bill bill = bill_of(card, counts, stencil_work(Dtype::float32), 0);
    EXPECT_NEAR(bill.seconds.low, 1000 * 2e-6, 1e-9); // all of the copy is hidden
    EXPECT_NEAR(bill.seconds.high, 1000 * 2e-6 + 5e-6 + 4e6 / (up ? 40e9 : 10e9), 1e-9);
  }
}

/// The corners with each kernel changed.
template <typename Change>
std::vector<CountedRun> changed_corners(const Change& change) {
  std::vector<CountedRun> corners = corners_of_naive();
  for (CountedRun& corner : corners) {
    change(corner.counts);
  }
  return corners;
}

TEST(Bill, OfThrustHasNoExcess) {
  const auto corners =
      changed_corners([](CardCounts& work) { work.kernels.front().name = "thrust::reduce"; });
  const auto [cost, step, resident] = priced(corners, 1000, 100, made_up_card());
  EXPECT_EQ(cost.excess, 1);
  EXPECT_NEAR(cost.of(PartKind::memory).seconds.high, 100 * 8e6 / 1e12, 1e-9);
  EXPECT_LT(resident.seconds.high, cost.seconds.high);
  EXPECT_EQ(step.excess, 1);
}

TEST(Bill, OfTheHostsMemoryGoesThroughTheLink) {
  // No copies: the kernel reads and writes the host's arrays, and its warps move six times what
  // they read.
  const auto corners = changed_corners([](CardCounts& work) {
    work.counts = {};
    Counts<KernelCount>& kernel = work.kernels.front().counts;
    const double cells = kernel[KernelCount::written_bytes];
    kernel[KernelCount::mapped_in_bytes] = kernel[KernelCount::mapped_out_bytes] = cells;
    kernel[KernelCount::mapped_in_moved] = 6 * cells;
    kernel[KernelCount::mapped_out_moved] = cells;
    for (const auto of_card :
         {KernelCount::asked_bytes, KernelCount::distinct_bytes, KernelCount::moved_bytes}) {
      kernel[of_card] = 0;
    }
  });
  const auto [cost, step, resident] = priced(corners, 1000, 100, made_up_card());
  ASSERT_EQ(cost.parts.size(), 2U); // its launches, too
  EXPECT_EQ(cost.parts[1].kind, PartKind::mapped);
  EXPECT_EQ(cost.parts[1].what, "kernel step, host's memory");
  EXPECT_NEAR(step.parts[1].bytes, 8e6, 1e-3);
  EXPECT_NEAR(cost.seconds.low, 100 * (1e-6 + 4e6 / 40e9), 1e-9);      // both ways at once
  EXPECT_NEAR(cost.seconds.high, 100 * (1e-6 + 7 * 4e6 / 40e9), 1e-9); // nothing is kept
  EXPECT_NEAR(resident.seconds.high, 100 * (1e-6 + 8e6 / 1e12), 1e-9);
}

// --- our own backends ----------------------------------------------------------------------------

Bill of_run(const CardRun& run, const CellWork& work = stencil_work(Dtype::float32)) {
  return bill_of(made_up_card(), run, work);
}

TEST(BackendCounts, ArePricedAsThoseOfAFile) {
  constexpr double cells = 1024.0 * 1024, traffic = 8 * cells / 1e12;
  const Bill graph = of_run({.backend = "cuda_graph", .cells = cells, .steps = 1000});
  EXPECT_NEAR(graph.steps.low, 12e-6 + 1000 * (1e-6 + traffic), 1e-9);
  EXPECT_NEAR(graph.warm.low - graph.steps.low, 2 * (5e-6 + 4 * cells / 40e9), 1e-9);
  EXPECT_NEAR(graph.seconds.low - graph.warm.low, 1e-4 + 4e-9 * cells, 1e-9); // page-locking
  // Of 256 columns that are loaded 240 are stored; short strips load 7 rows for 4.
  const Bill cuda = of_run({.backend = "cuda", .cells = cells, .steps = 1000});
  EXPECT_NEAR(cuda.steps.low, 12e-6 + 125 * (1e-6 + (1 + 256 / 240.0) / 2 * traffic), 1e-9);
  EXPECT_NEAR(cuda.steps.high, 12e-6 + 125 * (1e-6 + (1 + 256 / 240.0 * 7 / 4) / 2 * traffic),
              1e-9);
  CellWork deep = stencil_work(Dtype::float64);
  deep.per_launch = 20;
  EXPECT_NEAR(of_run({.backend = "cuda", .cells = cells, .steps = 40}, deep).steps.low,
              12e-6 + 2 * (1e-6 + (1 + 128 / 88.0) / 2 * 2 * traffic), 1e-9);
  // A launch from the host takes longer than this kernel.
  EXPECT_NEAR(of_run({.cells = 64.0 * 64, .steps = 1000}).steps.low, 12e-6 + 1000 * 2e-6, 1e-9);
  EXPECT_TRUE(has_counts("cuda"));
  EXPECT_FALSE(has_counts("cuda_naive"));
}

TEST(BackendCounts, FollowTheCopiesOfARun) {
  constexpr double cells = 1e6;
  const double up = 5e-6 + 4e6 / 40e9;
  const double resident = of_run({.cells = cells, .steps = 100}).warm.low;
  // A round trip a step: a wait and a launch after it, each time.
  const Bill trips = of_run({.cells = cells, .steps = 100, .trips = 100});
  EXPECT_NEAR(trips.warm.low, resident + 99 * (2 * up + 12e-6), 1e-9);
  const Bill waiting = of_run({.cells = cells, .steps = 100, .waits_each_step = true});
  EXPECT_NEAR(waiting.warm.low, resident + 99 * 12e-6, 1e-9);
  const Bill snapshots = of_run({.cells = cells, .steps = 100, .snapshots = 5, .overlaps = true});
  EXPECT_NEAR(snapshots.warm.low, resident + up, 1e-9); // the last one has nothing to pass beside
  EXPECT_EQ(of_run({.cells = cells, .locked = false}).of(PartKind::locking).seconds.high, 0);
}

TEST(BackendCounts, HaveTheirEndsInOrderOnEveryCard) {
  for (const std::string& name : assumed_card_names()) {
    const AssumedCard card = find_assumed_card(name);
    for (const char* backend : {"cuda_stream", "cuda_graph", "cuda"}) {
      for (const double side : {3.0, 100.0, 640.0, 3000.0, 50000.0, 200000.0}) {
        for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
          const Bill bill = bill_of(
              card, {.backend = backend, .cells = side * side, .steps = 100, .snapshots = 14},
              stencil_work(dtype));
          EXPECT_LT(bill.warm.low, bill.warm.high) << name << side;
          EXPECT_LT(bill.seconds.low, bill.seconds.high) << name << side;
          EXPECT_LT(bill.warm.high, bill.seconds.high) << name << side;
          EXPECT_TRUE(std::isfinite(bill.seconds.high)) << name << side;
          for (const BillPart& part : bill.parts) {
            EXPECT_LE(part.seconds.low, part.seconds.high) << name << part.what;
          }
        }
      }
    }
  }
}

/// docs/gpu.md: 0.31 to 0.55 us a step at 640x640; 1230 to 4100 GCell/s at 16384x16384, the most
/// where strips are long.
TEST(BackendCounts, OfAnH200HoldWhatTheMachineCodeSays) {
  const AssumedCard card = find_assumed_card("h200");
  const auto step = [&](double side) {
    const Assumption steps = bill_of(card, {.backend = "cuda", .cells = side * side, .steps = 1e4},
                                     stencil_work(Dtype::float32))
                                 .steps;
    return Assumption{steps.low / 1e4, steps.high / 1e4};
  };
  EXPECT_LT(step(640).low, 0.31e-6);
  EXPECT_GT(step(640).high, 0.55e-6);
  EXPECT_GT(16384.0 * 16384 / step(16384).low, 4100e9);
  EXPECT_LT(16384.0 * 16384 / step(16384).high, 1230e9);
}

/// Instructions in the dtype count where a card has little of it.
TEST(BackendCounts, InFloat64AreRuledByArithmeticOnASmallCard) {
  AssumedCard card = made_up_card();
  card.float64_rate = {1e11, 1e11};
  const Bill bill = bill_of(card, {.cells = 1e6, .steps = 10}, stencil_work(Dtype::float64));
  EXPECT_NEAR(bill.of(PartKind::instructions).seconds.low, 10 * 6 * 1e6 / (1e11 / 2), 1e-9);
}

} // namespace
} // namespace diffbench::bench
