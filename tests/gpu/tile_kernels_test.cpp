// SPDX-License-Identifier: Apache-2.0
// The tile kernels with shapes that no plan would choose: many small tiles, the last ones narrower
// than a halo, strips of one row. What the backends choose for small grids is one tile for all.
#include "kernels.hpp"
#include "oracle_check.hpp"
#include "tile_session.hpp"

#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/gpu/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace diffbench::kernels {
namespace {

using conformance::all_boundaries;
using conformance::field_of;
using conformance::matches_oracle;
using conformance::problem_of;

template <typename T>
class TileKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Probe probe = gpu::probe_device(0); !probe.available) {
      GTEST_SKIP() << probe.reason;
    }
  }

  int among(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

  void expect_oracles_bits(const TilePlan& plan, int nx, int ny, std::int64_t steps,
                           double step_seconds = 1e-6) {
    for (const Boundary boundary : all_boundaries) {
      if (plan.kernel == TileKernel::numbered && boundary == Boundary::periodic) {
        nx = (nx + 3) / 4 * 4; // whole patches
        ny = (ny + 3) / 4 * 4;
      }
      EXPECT_TRUE(
          matches_oracle(conformance::SessionMaker<T>([&](const Problem& problem) {
                           return make_tile_session<T>(problem, {plan, "given", step_seconds});
                         }),
                         problem_of<T>(nx, ny, boundary),
                         field_of<T>(conformance::Content::random, nx, ny), {steps}))
          << plan.describe(dtype_of<T>);
    }
  }

  std::mt19937 random_{1};
};
using CellTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(TileKernelsTest, CellTypes, );

// No more of them than the smallest device, which is emulated, holds at once.
TYPED_TEST(TileKernelsTest, ManySmallTiles) {
  constexpr Dtype dtype = dtype_of<TypeParam>;
  for (int i = 0; i < 30; ++i) {
    TilePlan plan{.kernel = i % 3 == 0 ? TileKernel::blocked : TileKernel::persistent,
                  .block_x = 8 << this->among(0, 1),
                  .block_y = 4 * this->among(1, 2)};
    const int narrowest = std::min(plan.region_width(dtype), plan.region_height(dtype));
    plan.depth = this->among(1, std::min(6, (narrowest - 1) / 2));
    const int nx = std::max(
        3, this->among(0, 2) * plan.tile_width(dtype) + this->among(1, plan.tile_width(dtype)));
    const int ny = std::max(
        3, this->among(0, 1) * plan.tile_height(dtype) + this->among(1, plan.tile_height(dtype)));
    if (plan.tiles_x({0, 0, nx, ny}, dtype) * plan.tiles_y({0, 0, nx, ny}, dtype) <= 8) {
      this->expect_oracles_bits(plan, nx, ny, this->among(1, 12 * plan.depth));
    }
  }
}

// Last tiles of one patch, and of less where the grid does not wrap round; tiles narrower than a
// halo.
TYPED_TEST(TileKernelsTest, NumberedHalos) {
  constexpr Dtype dtype = dtype_of<TypeParam>;
  for (int i = 0; i < 24; ++i) {
    TilePlan plan{.kernel = TileKernel::numbered,
                  .block_x = dtype == Dtype::float32 ? 8 << this->among(0, 1) : 16,
                  .block_y = 4 * this->among(1, 2),
                  .depth = 4};
    if (plan.block_y == 8) {
      plan.depth = 4 * this->among(1, 3);
    }
    const int width = plan.tile_width(dtype);
    const int height = plan.tile_height(dtype);
    const int nx = this->among(1, 2) * width + this->among(1, 8);
    const int ny = std::max(3, this->among(0, 1) * height + this->among(1, height));
    if (plan.tiles_x({0, 0, nx + 3, ny}, dtype) * plan.tiles_y({0, 0, nx, ny + 3}, dtype) <= 8) {
      this->expect_oracles_bits(plan, nx, ny, this->among(1, 12 * plan.depth));
    }
  }
}

// What would take long is several launches, which go on from each other's fields.
TYPED_TEST(TileKernelsTest, ALongRunIsSeveralLaunches) {
  for (const TileKernel kernel : {TileKernel::persistent, TileKernel::numbered}) {
    const TilePlan plan{.kernel = kernel, .block_x = 16, .block_y = 4, .depth = 4};
    for (const int steps : {8, 9, 12, 15, 16, 17, 29}) { // of 8 a launch
      this->expect_oracles_bits(plan, 33, 11, steps, 0.02);
    }
  }
}

// Several side by side and one below the other, with columns that wrap round and that do not.
TYPED_TEST(TileKernelsTest, StripsOfFewRows) {
  for (const auto& [rows, nx] : {std::pair{1, 64}, {2, 67}, {7, 252}, {10, 503}, {40, 492}}) {
    for (const TileKernel kernel : {TileKernel::streamed, TileKernel::swapped}) {
      const TilePlan plan{
          .kernel = kernel, .block_x = 16, .block_y = 8, .depth = streamed_depth, .rows = rows};
      this->expect_oracles_bits(plan, nx, this->among(17, 40), 10);
    }
  }
}

// What nvcc gives a kernel decides how many of its blocks run at once, also where nvcc's code does
// not run: an emulation that knew nothing of it would take launches that a device refuses.
TYPED_TEST(TileKernelsTest, RegistersBoundTheThreadsOfALaunch) {
  const StepKernels<TypeParam> kernels = step_kernels<TypeParam>();
  const gpu::Stream stream;
  EXPECT_GE(gpu::resident_blocks(kernels.streamed, {.grid = 1, .block = warp_lanes}), 8);
  EXPECT_LE(gpu::resident_blocks(kernels.streamed, {.grid = 1, .block = warp_lanes}), 10);
  EXPECT_EQ(gpu::resident_blocks(kernels.persistent, {.grid = 1, .block = most_tile_threads}), 1);
  EXPECT_THROW(gpu::launch(stream, {.grid = 1, .block = 1024}, kernels.streamed, Grid<TypeParam>{},
                           Area{}, StripShape{}, nullptr, nullptr),
               gpu::CudaError);
}

} // namespace
} // namespace diffbench::kernels
