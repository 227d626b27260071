// SPDX-License-Identifier: Apache-2.0
// How the tile kernels' shape is chosen: candidates that fit, the cache, the calibration. Devices
// are descriptions here, so nothing needs one.
#include "tile_plan.hpp"
#include "diffbench/build_stamp.hpp"
#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace diffbench::kernels {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::array blocked = {TileKernel::blocked};
constexpr std::array persistent = {TileKernel::persistent};
constexpr std::array all = {TileKernel::blocked, TileKernel::persistent, TileKernel::numbered,
                            TileKernel::streamed, TileKernel::swapped};

// The published properties of an H100 or H200, as the runtime reports them.
TileDevice large_device() {
  TileDevice device;
  device.properties.name = "large";
  device.properties.multiprocessors = 132;
  device.properties.shared_bytes_per_block = 227 << 10;
  device.properties.l2_bytes = 50 << 20;
  device.properties.cooperative_launch = true;
  // 65536 registers: what nvcc gives a thread (ptxas_budget.json).
  device.resident_blocks = [](const TilePlan& plan) {
    switch (plan.kernel) {
      case TileKernel::streamed:
      case TileKernel::swapped: return 65536 / (248 * warp_lanes);
      case TileKernel::persistent: return 65536 / (128 * plan.threads());
      case TileKernel::numbered: return 65536 / (120 * plan.threads());
      default: return 65536 / (96 * plan.threads());
    }
  };
  return device;
}

TileDevice small_device() {
  TileDevice device = large_device();
  device.properties.name = "small";
  device.properties.multiprocessors = 2;
  device.properties.shared_bytes_per_block = 99 << 10;
  return device;
}

Problem problem_of(std::int64_t nx, std::int64_t ny, Dtype dtype = Dtype::float32) {
  Problem problem;
  problem.nx = nx;
  problem.ny = ny;
  problem.dtype = dtype;
  return problem;
}

TEST(TileCandidates, FitTheDeviceAndCoverTheGrid) {
  for (const TileDevice& device : {large_device(), small_device()}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const std::int64_t side : {3, 61, 640, 4096}) {
        const Problem problem = problem_of(side, side + 5, dtype);
        const Area whole = whole_of(problem);
        for (const TileKernel kernel : all) {
          for (const TileCandidate& candidate : tile_candidates(kernel, problem, device)) {
            const TilePlan& plan = candidate.plan;
            ASSERT_EQ(candidate.resident_blocks, device.resident_blocks(plan));
            ASSERT_GT(candidate.resident_blocks, 0);
            ASSERT_LE(plan.threads(), most_tile_threads);
            ASSERT_GE(plan.tiles_x(whole, dtype) * plan.tile_width(dtype), problem.nx);
            ASSERT_GE(plan.tiles_y(whole, dtype) * plan.tile_height(dtype), problem.ny);
            ASSERT_GE(plan.tile_width(dtype), 1);
            ASSERT_GE(plan.tile_height(dtype), 1);
          }
        }
      }
    }
  }
}

// Twice six packets of 16 bytes for each patch of 64 bytes.
TEST(Packets, AreAsManyAsThePatchesOfTheGrid) {
  const auto bytes = [](const Problem& problem) { return packet_bytes(all, problem); };
  EXPECT_EQ(bytes(problem_of(640, 640)), 2 * 6 * 16 * 160 * 160);
  EXPECT_EQ(bytes(problem_of(640, 640, Dtype::float64)), 2 * 6 * 16 * 320 * 160);
  EXPECT_EQ(packet_bytes(persistent, problem_of(640, 640)), 0);
  // Of a grid that wraps round, patches must be whole.
  for (const auto& [nx, ny] : {std::pair{638, 640}, {640, 638}}) {
    EXPECT_EQ(bytes(problem_of(nx, ny)), 0);
    Problem walled = problem_of(nx, ny);
    walled.boundary = Boundary::neumann;
    EXPECT_EQ(bytes(walled), 2 * 6 * 16 * 160 * 160);
  }
}

// Whatever the card: a plan that takes packets must not need more than was said before it was
// known.
TEST(Packets, AreNoneWhereTheFieldFitsNoChip) {
  TileDevice device = large_device();
  device.properties.multiprocessors = 1 << 20;
  for (const int side : {2048, 4096}) {
    const Problem problem = problem_of(side, side);
    const bool fits = side == 2048;
    EXPECT_EQ(packet_bytes(all, problem) > 0, fits);
    EXPECT_EQ(tile_candidates(TileKernel::numbered, problem, device).empty(), !fits);
    EXPECT_FALSE(tile_candidates(TileKernel::persistent, problem, device).empty());
  }
}

TEST(TileCandidates, TheModelsFavouriteIsFirst) {
  const Problem problem = problem_of(640, 640);
  for (const TileKernel kernel : all) {
    const auto plans = tile_candidates(kernel, problem, large_device());
    ASSERT_THAT(plans, Not(IsEmpty()));
    EXPECT_TRUE(std::ranges::is_sorted(plans, {}, &TileCandidate::predicted_seconds));
  }
}

TEST(TileCandidates, PersistentOnlyWhereAllTilesAreResidentAtOnce) {
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(640, 640), large_device()),
              Not(IsEmpty()));
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(640, 640), small_device()),
              IsEmpty());
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(16384, 16384), large_device()),
              IsEmpty());
  TileDevice device = large_device();
  device.properties.cooperative_launch = false;
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(64, 64), device), IsEmpty());
  // What the device says of the kernel's registers counts, not an assumption.
  const Problem problem = problem_of(640, 640);
  for (const int most : {0, 1, 2}) {
    device = large_device();
    device.resident_blocks = [most](const TilePlan&) { return most; };
    const auto candidates = tile_candidates(TileKernel::persistent, problem, device);
    EXPECT_EQ(candidates.empty(), most == 0);
    for (const auto& [plan, resident, seconds, least] : candidates) {
      EXPECT_LE(plan.tiles_x(whole_of(problem), problem.dtype) *
                    plan.tiles_y(whole_of(problem), problem.dtype),
                132 * most);
    }
  }
}

// Patches are exchanged whole.
TEST(TileCandidates, NumberedHalosWantWholePatches) {
  const auto candidates = [](std::int64_t nx, std::int64_t ny, Dtype dtype, Boundary boundary) {
    Problem problem = problem_of(nx, ny, dtype);
    problem.boundary = boundary;
    return tile_candidates(TileKernel::numbered, problem, large_device());
  };
  for (const TileCandidate& candidate : candidates(640, 640, Dtype::float32, Boundary::periodic)) {
    EXPECT_EQ(candidate.plan.depth % 4, 0);
  }
  EXPECT_THAT(candidates(62, 64, Dtype::float64, Boundary::periodic), Not(IsEmpty()));
  EXPECT_THAT(candidates(62, 64, Dtype::float32, Boundary::periodic), IsEmpty());
  EXPECT_THAT(candidates(64, 62, Dtype::float64, Boundary::periodic), IsEmpty());
  EXPECT_THAT(candidates(61, 63, Dtype::float32, Boundary::dirichlet), Not(IsEmpty()));
}

// docs/gpu.md has the arithmetic. What a kernel executes is counted; the rest is published, and
// nothing of it measured.
TEST(TileCandidates, ComeThisFarOnPaper) {
  const auto predicted = [](TileKernel kernel, std::int64_t side, Dtype dtype) {
    return tile_candidates(kernel, problem_of(side, side, dtype), large_device()).at(0);
  };
  for (const auto& [kernel, least, most] : {std::tuple{TileKernel::persistent, 0.34e-6, 0.38e-6},
                                            {TileKernel::numbered, 0.31e-6, 0.345e-6}}) {
    const TileCandidate candidate = predicted(kernel, 640, Dtype::float32);
    EXPECT_LE(candidate.least_seconds, least) << candidate.plan.describe(Dtype::float32);
    EXPECT_LE(candidate.predicted_seconds, most) << candidate.plan.describe(Dtype::float32);
  }
  for (const auto& [kernel, low, high] :
       {std::tuple{TileKernel::streamed, 2900.0, 3500.0}, {TileKernel::swapped, 2900.0, 4000.0}}) {
    const TileCandidate candidate = predicted(kernel, 16384, Dtype::float32);
    EXPECT_GE(16384e-9 * 16384 / candidate.predicted_seconds, low);
    EXPECT_GE(16384e-9 * 16384 / candidate.least_seconds, high);
  }
  // At most 15 % above what memory or float64 arithmetic alone would take.
  const double traffic = 2.0 * 8 / streamed_depth / 4.3e12;
  const double arithmetic = 6 / (132 * 64 * 1.98e9);
  EXPECT_LE(predicted(TileKernel::swapped, 16384, Dtype::float64).least_seconds,
            1.15 * 16384 * 16384 * std::max(traffic, arithmetic));
}

// Each cell in one area, the strips out of reach of every edge that they do not know.
TEST(StreamedAreas, ShareTheGrid) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const auto& [nx, ny] : {std::pair{3, 3}, {16, 16}, {18, 17}, {64, 40}, {65, 40}}) {
        Problem problem = problem_of(nx, ny, dtype);
        problem.boundary = boundary;
        const StreamedAreas areas = streamed_areas(problem);
        std::vector<int> covered(static_cast<std::size_t>(nx * ny));
        const auto cover = [&, width = nx](const Area& area) {
          for (int y = area.top; y < area.bottom; ++y) {
            for (int x = area.left; x < area.right; ++x) {
              ++covered.at(static_cast<std::size_t>(y * width + x));
            }
          }
        };
        cover(areas.strips);
        std::ranges::for_each(areas.tiles, cover);
        EXPECT_THAT(covered, testing::Each(1));
        if (areas.strips.right == 0) {
          continue;
        }
        const int quad = dtype == Dtype::float32 ? 4 : 2;
        EXPECT_EQ(areas.strips.left % quad, 0);
        EXPECT_EQ((areas.strips.right - areas.strips.left) % quad, 0);
        EXPECT_EQ(areas.wraps_columns, boundary == Boundary::periodic && nx % quad == 0);
        if (!areas.wraps_columns) {
          EXPECT_GE(areas.strips.left, streamed_depth);
          EXPECT_LE(areas.strips.right, nx - streamed_depth);
        }
        if (boundary != Boundary::periodic) {
          EXPECT_GE(areas.strips.top, streamed_depth);
          EXPECT_LE(areas.strips.bottom, ny - streamed_depth);
        }
      }
    }
  }
}

// What provenance says is what runs.
TEST(StreamedAreas, AGridWithoutRoomForStripsHasNone) {
  Problem problem = problem_of(16, 40);
  problem.boundary = Boundary::dirichlet;
  const auto candidates = tile_candidates(TileKernel::streamed, problem, large_device());
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_THAT(candidates[0].plan.describe(problem.dtype), Not(HasSubstr("strips")));
  problem.nx = 400;
  EXPECT_THAT(tile_candidates(TileKernel::streamed, problem, large_device())
                  .at(0)
                  .plan.describe(problem.dtype),
              HasSubstr("strips of 240x"));
}

// Rows of blocks do not count: tiles are numbered in x.
TEST(TileCandidates, CoverTheTallestGrid) {
  EXPECT_THAT(tile_candidates(TileKernel::blocked, problem_of(3, 1'000'000'000), large_device()),
              Not(IsEmpty()));
}

// Less than the 2 s after which a watchdog ends a kernel, also if the model is wrong by some
// factor.
TEST(LaunchSteps, AreATenthOfAWatchdogsTime) {
  const TilePlan plan{TileKernel::persistent, 16, 24, 8, 0};
  EXPECT_EQ(launch_steps({plan, "", 1e-6}), 200'000);
  EXPECT_EQ(launch_steps({plan, "", 0.011}), 16); // whole sweeps
  EXPECT_EQ(launch_steps({plan, "", 5}), 8);
  EXPECT_GT(launch_steps({plan, "", 0}), 1'000'000'000);
}

class ChooseTileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("diffbench-tiles-" + std::to_string(::getpid()));
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  [[nodiscard]] fs::path file() const { return directory_ / "cache" / "tiles"; }
  [[nodiscard]] LineCache cache() const { return LineCache(file()); }

  /// Chooses with a device on which the plan that is measured first but for `best_` others takes
  /// one second, and the others two.
  TileChoice choose(bool retune = false, std::span<const TileKernel> kernels = all) {
    measured_.clear();
    TileDevice device = large_device();
    device.transfer = transfer_;
    device.seconds = [this](const TilePlan& plan, std::int64_t steps) {
      measured_.push_back(plan);
      steps_.insert(steps);
      return plan == measured_[std::min(best_, measured_.size() - 1)] ? 1.0 : 2.0;
    };
    return choose_tile(kernels, problem_, device, cache(), retune);
  }
  /// The plans measured, each once.
  [[nodiscard]] std::set<TilePlan> plans() const { return {measured_.begin(), measured_.end()}; }

  Problem problem_ = problem_of(640, 640);
  Transfer transfer_ = Transfer::pageable;
  fs::path directory_;
  std::size_t best_ = 3;
  std::vector<TilePlan> measured_;
  std::set<std::int64_t> steps_;
};

TEST_F(ChooseTileTest, TheQuickestMeasuredWins) {
  for (best_ = 0; best_ < 4; ++best_) {
    const TileChoice choice = choose(true);
    EXPECT_EQ(choice.source, "calibrated");
    EXPECT_DOUBLE_EQ(choice.step_seconds, 1.0 / static_cast<double>(*steps_.begin()));
    ASSERT_LT(best_, measured_.size());
    EXPECT_EQ(choice.plan, measured_[best_]);
  }
  // Favourites of both kernels, a few of each: a calibration of milliseconds.
  EXPECT_LE(plans().size(), 30U);
  for (const TileKernel kernel : all) {
    EXPECT_TRUE(std::ranges::any_of(measured_,
                                    [&](const TilePlan& plan) { return plan.kernel == kernel; }));
  }
}

// Rounds in which each has its turn, all with the same number of steps: what drifts meets all
// alike.
TEST_F(ChooseTileTest, MeasurementsAreInterleaved) {
  (void)choose();
  const std::size_t count = plans().size();
  ASSERT_GT(count, 3U);
  ASSERT_EQ(measured_.size() % count, 0U);
  EXPECT_GE(measured_.size() / count, 4U);
  for (std::size_t i = count; i < measured_.size(); ++i) {
    EXPECT_EQ(measured_[i], measured_[i - count]);
  }
  EXPECT_EQ(steps_.size(), 1U);
}

// A device's clock takes its time to rise.
TEST_F(ChooseTileTest, IsWarmedUp) {
  TileDevice device = large_device();
  double total = 0;
  std::map<TilePlan, std::vector<double>> began;
  device.seconds = [&](const TilePlan& plan, std::int64_t) {
    began[plan].push_back(total);
    total += 1e-3;
    return 1e-3;
  };
  (void)choose_tile(all, problem_, device, cache(), true);
  for (const auto& [plan, times] : began) {
    ASSERT_GT(times.size(), 5U);
    EXPECT_GE(times.at(times.size() - 5), 0.05); // the first of the rounds that count
  }
}

// A first round that loads kernels, and one that something disturbs, do not decide.
TEST_F(ChooseTileTest, WarmUpAndOutliersDoNotDecide) {
  TileDevice device = large_device();
  std::map<TilePlan, int> round;
  TilePlan first;
  device.seconds = [&](const TilePlan& plan, std::int64_t) {
    first = round.empty() ? plan : first;
    const int turn = round[plan]++;
    if (plan == first) { // the best but for the warm-up and two rounds
      return turn % 2 == 0 ? 9.0 : 1.0;
    }
    return turn == 0 || turn == 3 ? 0.1 : 2.0; // and these only seem to be
  };
  EXPECT_EQ(choose_tile(all, problem_, device, cache(), true).plan, first);
}

// Near-duplicates would only measure the noise: no more than two of a kind, of different shapes.
TEST_F(ChooseTileTest, WhatIsMeasuredDiffers) {
  (void)choose();
  std::map<std::pair<TileKernel, int>, std::vector<TilePlan>> kinds;
  for (const TilePlan& plan : plans()) {
    kinds[{plan.kernel, std::min(3, large_device().resident_blocks(plan))}].push_back(plan);
  }
  EXPECT_GE(kinds.size(), 3U);
  for (const auto& [kind, plans] : kinds) {
    ASSERT_LE(plans.size(), 2U);
    if (plans.size() == 2 && plans[0].rows == plans[1].rows) {
      EXPECT_NE(plans[0].depth, plans[1].depth);
      EXPECT_NE(plans[0].block_x * 100 + plans[0].block_y,
                plans[1].block_x * 100 + plans[1].block_y);
    }
  }
}

TEST_F(ChooseTileTest, AChoiceIsRememberedUntilRetune) {
  const TileChoice first = choose();
  const TileChoice second = choose();
  EXPECT_EQ(second.source, "cached");
  EXPECT_NEAR(second.step_seconds / first.step_seconds, 1, 1e-5); // as measured
  EXPECT_EQ(second.plan, first.plan);
  EXPECT_THAT(measured_, IsEmpty());
  best_ = 0;
  const TileChoice third = choose(true);
  EXPECT_EQ(third.source, "calibrated");
  EXPECT_NE(third.plan, first.plan);
  EXPECT_EQ(choose().plan, third.plan); // the newest counts
}

TEST_F(ChooseTileTest, EachKindOfRunHasItsOwnChoice) {
  (void)choose();
  EXPECT_EQ(choose(false, blocked).source, "calibrated");
  problem_.dtype = Dtype::float64;
  EXPECT_EQ(choose().source, "calibrated");
  problem_.nx = 641;
  EXPECT_EQ(choose().source, "calibrated");
  problem_.boundary = Boundary::neumann;
  EXPECT_EQ(choose().source, "calibrated");
  transfer_ = Transfer::mapped;
  EXPECT_EQ(choose().source, "calibrated");
  transfer_ = Transfer::pageable;
  problem_ = problem_of(640, 640);
  EXPECT_EQ(choose().source, "cached"); // the others did not push it out
}

TEST_F(ChooseTileTest, WhatIsInTheCacheIsNotTrusted) {
  (void)choose();
  std::ifstream stored(file());
  std::string key;
  std::getline(stored, key, '\t');
  for (const char* line :
       {"blocked 4096 4096 1 0", "blocked -4 8 2 0", "blocked 28 18 8 0", "blocked 16 26 0 0",
        "streamed 32 8 8 0", "streamed 32 8 7 64", "streamed 32 8 8 2147483647",
        "blocked 16 2147483647 12 0", "tiled 16 26 8 0", "garbage", "", "blocked 28"}) {
    std::ofstream(file()) << key << '\t' << build_stamp() << ' ' << line << " 1e-6\n";
    EXPECT_EQ(choose().source, "calibrated") << line;
  }
  for (const char* seconds : {"", "0", "-1e-6", "nan", "soon"}) {
    std::ofstream(file()) << key << '\t' << build_stamp() << " blocked 16 26 12 0 " << seconds
                          << '\n';
    EXPECT_EQ(choose().source, "calibrated") << seconds;
  }
  for (const auto& [stamp, source] :
       {std::pair{build_stamp(), "cached"}, {"another", "calibrated"}}) {
    std::ofstream(file()) << key << '\t' << stamp << " blocked 16 26 12 0 1e-6\n";
    EXPECT_EQ(choose().source, source);
  }
}

TEST_F(ChooseTileTest, ACacheThatCannotBeWrittenIsNoError) {
  std::ofstream(directory_) << "a file where the directory should be";
  EXPECT_EQ(choose().source, "calibrated");
  EXPECT_EQ(choose().source, "calibrated");
}

TEST_F(ChooseTileTest, WithoutMeasurementTheModelDecidesAndNothingIsStored) {
  const TileChoice choice = choose_tile(all, problem_, large_device(), cache(), false);
  EXPECT_EQ(choice.source, "model");
  EXPECT_GT(choice.step_seconds, 0);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(ChooseTileTest, APlanThatDoesNotRunIsNeverChosen) {
  best_ = 0;
  const TilePlan quickest = choose().plan;
  // From now on a multiprocessor holds no block of it, in spite of the cache.
  TileDevice device = large_device();
  device.seconds = [](const TilePlan&, std::int64_t) { return 1.0; };
  device.resident_blocks = [&](const TilePlan& plan) {
    return plan.kernel == quickest.kernel ? 0 : 1;
  };
  EXPECT_NE(choose_tile(all, problem_, device, cache(), false).plan.kernel, quickest.kernel);
  device.resident_blocks = [](const TilePlan&) { return 0; };
  EXPECT_THROW((void)choose_tile(all, problem_, device, cache(), true), Unavailable);
}

TEST_F(ChooseTileTest, AGridThatDoesNotFitOnTheChipIsRefused) {
  problem_ = problem_of(16384, 16384);
  try {
    (void)choose(false, persistent);
    FAIL() << "a plan for a grid that does not fit";
  } catch (const Unavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("16384x16384"));
    EXPECT_THAT(error.what(), HasSubstr("use cuda_blocked"));
  }
}

} // namespace
} // namespace diffbench::kernels
