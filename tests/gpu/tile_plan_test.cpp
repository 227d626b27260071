// How the tile kernels' shape is chosen: candidates that fit, the cache, the calibration. Devices
// are descriptions here, so nothing needs one.
#include "tile_plan.hpp"
#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace diffbench::kernels {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::array blocked = {TileKernel::blocked};
constexpr std::array persistent = {TileKernel::persistent};
constexpr std::array both = {TileKernel::blocked, TileKernel::persistent};

// The published properties of an H100 or H200, as the runtime reports them.
gpu::Device large_device() {
  gpu::Device device;
  device.name = "large";
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 227 << 10;
  device.shared_bytes_per_multiprocessor = 228 << 10;
  device.registers_per_multiprocessor = 65536;
  device.cooperative_launch = true;
  return device;
}

gpu::Device small_device() {
  gpu::Device device = large_device();
  device.name = "small";
  device.multiprocessors = 2;
  device.shared_bytes_per_block = 48 << 10;
  device.shared_bytes_per_multiprocessor = 64 << 10;
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
  for (const gpu::Device& device : {large_device(), small_device()}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const std::int64_t side : {3, 61, 640, 4096}) {
        const Problem problem = problem_of(side, side + 5, dtype);
        for (const TileKernel kernel : both) {
          for (const TilePlan& plan : tile_candidates(kernel, problem, device)) {
            ASSERT_LE(plan.threads(), patch_size(plan.patch, dtype).max_threads);
            ASSERT_LE(plan.shared_bytes(dtype), device.shared_bytes_per_block);
            ASSERT_GE(plan.tiles_x(problem) * plan.tile_width(dtype), problem.nx);
            ASSERT_GE(plan.tiles_y(problem) * plan.tile_height(dtype), problem.ny);
            ASSERT_GE(plan.tile_width(dtype), 1);
            ASSERT_GE(plan.tile_height(dtype), 1);
          }
        }
      }
    }
  }
}

TEST(TileCandidates, TheModelsFavouriteIsFirst) {
  const Problem problem = problem_of(640, 640);
  for (const TileKernel kernel : both) {
    const auto plans = tile_candidates(kernel, problem, large_device());
    ASSERT_THAT(plans, Not(IsEmpty()));
    EXPECT_TRUE(std::ranges::is_sorted(plans, {}, [&](const TilePlan& plan) {
      return predicted_step_seconds(plan, problem, large_device());
    }));
  }
}

TEST(TileCandidates, PersistentOnlyWhereAllTilesAreResidentAtOnce) {
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(640, 640), large_device()),
              Not(IsEmpty()));
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(640, 640), small_device()),
              IsEmpty());
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(16384, 16384), large_device()),
              IsEmpty());
  gpu::Device without = large_device();
  without.cooperative_launch = false;
  EXPECT_THAT(tile_candidates(TileKernel::persistent, problem_of(64, 64), without), IsEmpty());
  // A multiprocessor holds 65536 registers; a thread of these kernels up to 104.
  for (const TilePlan& plan :
       tile_candidates(TileKernel::persistent, problem_of(640, 640), large_device())) {
    const std::int64_t resident = 65536 / (104 * plan.threads());
    EXPECT_LE(plan.tiles_x(problem_of(640, 640)) * plan.tiles_y(problem_of(640, 640)),
              132 * resident);
  }
}

class ChooseTileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("diffbench-tiles-" + std::to_string(::getpid()));
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  [[nodiscard]] fs::path file() const { return directory_ / "cache" / "tiles"; }
  [[nodiscard]] TileCache cache() const { return TileCache(file()); }

  /// Chooses with a device on which the plan measured as number `best_` is the quickest.
  TileChoice choose(bool retune = false, std::span<const TileKernel> kernels = both) {
    measured_.clear();
    return choose_tile(kernels, problem_, large_device(), cache(), retune,
                       [this](const TilePlan& plan) {
                         measured_.push_back(plan);
                         return measured_.size() == best_ + 1 ? 1.0 : 2.0;
                       });
  }

  Problem problem_ = problem_of(640, 640);
  fs::path directory_;
  std::size_t best_ = 3;
  std::vector<TilePlan> measured_;
};

TEST_F(ChooseTileTest, TheQuickestMeasuredWins) {
  for (best_ = 0; best_ < 4; ++best_) {
    const TileChoice choice = choose(true);
    EXPECT_EQ(choice.source, "calibrated");
    ASSERT_LT(best_, measured_.size());
    EXPECT_EQ(choice.plan, measured_[best_]);
  }
  // Favourites of both kernels, a few of each: a calibration of milliseconds.
  EXPECT_LE(measured_.size(), 12U);
  for (const TileKernel kernel : both) {
    EXPECT_TRUE(std::ranges::any_of(measured_,
                                    [&](const TilePlan& plan) { return plan.kernel == kernel; }));
  }
}

TEST_F(ChooseTileTest, AChoiceIsRememberedUntilRetune) {
  const TileChoice first = choose();
  const TileChoice second = choose();
  EXPECT_EQ(second.source, "cached");
  EXPECT_EQ(second.plan, first.plan);
  EXPECT_THAT(measured_, IsEmpty());
  best_ = 0;
  const TileChoice third = choose(true);
  EXPECT_EQ(third.source, "calibrated");
  EXPECT_NE(third.plan, first.plan);
  EXPECT_EQ(choose().plan, third.plan); // the newest counts
}

TEST_F(ChooseTileTest, EachDtypeSizeAndSetOfKernelsHasItsOwnChoice) {
  (void)choose();
  EXPECT_EQ(choose(false, blocked).source, "calibrated");
  problem_.dtype = Dtype::float64;
  EXPECT_EQ(choose().source, "calibrated");
  problem_.nx = 641;
  EXPECT_EQ(choose().source, "calibrated");
  problem_ = problem_of(640, 640);
  EXPECT_EQ(choose().source, "cached"); // the others did not push it out
}

TEST_F(ChooseTileTest, WhatIsInTheCacheIsNotTrusted) {
  (void)choose();
  std::ifstream stored(file());
  std::string key;
  std::getline(stored, key, '\t');
  for (const char* line : {"0 0 4096 4096 1", "0 0 -4 8 2", "garbage", "", "0 0 28"}) {
    std::ofstream(file()) << key << '\t' << line << '\n';
    EXPECT_EQ(choose().source, "calibrated") << line;
  }
}

TEST_F(ChooseTileTest, ACacheThatCannotBeWrittenIsNoError) {
  std::ofstream(directory_) << "a file where the directory should be";
  EXPECT_EQ(choose().source, "calibrated");
  EXPECT_EQ(choose().source, "calibrated");
}

TEST_F(ChooseTileTest, WithoutMeasurementTheModelDecidesAndNothingIsStored) {
  const TileChoice choice = choose_tile(both, problem_, large_device(), cache(), false, {});
  EXPECT_EQ(choice.source, "model");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(ChooseTileTest, APlanThatDoesNotRunIsNeverChosen) {
  const TileChoice choice =
      choose_tile(both, problem_, large_device(), cache(), false, [](const TilePlan& plan) {
        return plan.kernel == TileKernel::persistent ? std::numeric_limits<double>::infinity()
                                                     : 1.0;
      });
  EXPECT_EQ(choice.plan.kernel, TileKernel::blocked);
  EXPECT_THROW(
      (void)choose_tile(persistent, problem_, large_device(), cache(), true,
                        [](const TilePlan&) { return std::numeric_limits<double>::infinity(); }),
      Unavailable);
  // And nothing of it is remembered.
  EXPECT_EQ(choose(false, persistent).source, "calibrated");
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
