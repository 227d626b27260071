// SPDX-License-Identifier: Apache-2.0
// The simd backend under plans that this machine would never choose: other caches, more threads,
// kernels with other times.
// The bands run here one after the other in random order, which the barriers between their sweeps
// and the filling of the gaps must make as good as any.
#include "oracle_check.hpp"

#include "simd/band.hpp"
#include "simd/resident.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace diffbench::conformance {
namespace {

using simd::Band;
using simd::Plan;

const std::vector<simd::KernelSet>& kernel_sets() {
  static const std::vector<simd::KernelSet> sets = [] {
    std::vector<simd::KernelSet> usable = {simd::baseline_kernels()};
#if defined(__x86_64__)
    if (best_isa() >= Isa::avx2) {
      usable.push_back(simd::avx2_kernels(simd::Pipes::plain));
      usable.push_back(simd::avx2_kernels(simd::Pipes::fused));
    }
    if (best_isa() >= Isa::avx512) {
      usable.push_back(simd::avx512_kernels(simd::Pipes::plain));
      usable.push_back(simd::avx512_kernels(simd::Pipes::fused));
    }
#endif
    return usable;
  }();
  return sets;
}

template <typename T>
const simd::RowKernels<T>& row_kernels(const simd::KernelSet& set) {
  if constexpr (dtype_of<T> == Dtype::float32) {
    return set.float32;
  } else {
    return set.float64;
  }
}

template <typename T>
void advance_resident(const Problem& problem, Field<T>& field, std::int64_t steps,
                      const simd::RowKernels<T>& kernels) {
  simd::Resident<T> resident(problem, kernels);
  resident.upload_rows(0, field.cells());
  resident.advance(steps / 2);
  resident.advance(steps - steps / 2);
  resident.download_rows(0, field.cells());
}

template <typename T>
class PlannedRun {
 public:
  PlannedRun(const Problem& problem, const Plan& plan, const simd::RowKernels<T>& kernels)
      : plan_(plan) {
    for (std::int64_t band = 0; band < plan.threads; ++band) {
      bands_.emplace_back(problem, plan, kernels, problem.ny * band / plan.threads,
                          problem.ny * (band + 1) / plan.threads);
    }
  }

  void advance(Field<T>& field, std::int64_t steps, std::mt19937& engine) {
    const std::size_t count = bands_.size();
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::int64_t left = steps; left > 0;) {
      const std::int64_t depth = std::min(left, plan_.depth);
      std::ranges::shuffle(order, engine);
      for (const std::size_t band : order) {
        bands_[band].sweep(field, depth);
      }
      std::ranges::shuffle(order, engine);
      for (const std::size_t band : order) {
        bands_[band].fill_gap(field, bands_[(band + count - 1) % count], depth);
      }
      left -= depth;
    }
  }

 private:
  Plan plan_;
  std::vector<Band<T>> bands_;
};

struct Draw {
  std::mt19937& engine;
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  }
};

bool is_sound(const Plan& plan, const Problem& problem, int threads) {
  const bool strips_fit =
      plan.strips == 1 || (plan.halo >= plan.depth && plan.strip_width >= plan.halo &&
                           plan.strip_width * (plan.strips - 1) < problem.nx);
  return plan.threads == std::clamp<std::int64_t>(problem.ny / 2, 1, threads) && plan.depth >= 1 &&
         plan.strips >= 1 && plan.strip_width * plan.strips >= problem.nx && strips_fit &&
         (!plan.resident || plan.threads == 1);
}

template <typename T>
class SimdPlanTest : public testing::Test {};
using Dtypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SimdPlanTest, Dtypes);

TYPED_TEST(SimdPlanTest, EveryPlanGivesTheOraclesBits) {
  std::mt19937 engine(7);
  Draw draw{engine};
  int plans_with_strips = 0;
  int resident_plans = 0;
  for (int run = 0; run < 1000; ++run) {
    const Boundary boundary = all_boundaries[static_cast<std::size_t>(draw(0, 2))];
    const auto problem = problem_of<TypeParam>(draw(3, 300), draw(3, 60), boundary);
    const auto threads = static_cast<int>(draw(1, 9));
    const Caches caches = {.l1d = draw(1 << 10, 8 << 10),
                           .l2 = std::int64_t{1} << draw(11, 18),
                           .l3 = draw(0, 1 << 20)};
    const auto& kernels =
        row_kernels<TypeParam>(kernel_sets()[static_cast<std::size_t>(run) % kernel_sets().size()]);
    const simd::KernelTimes times = {.call = static_cast<double>(draw(0, 100)),
                                     .row = static_cast<double>(draw(0, 300)),
                                     .copy = static_cast<double>(draw(1, 9)),
                                     .resident_call = static_cast<double>(draw(0, 100))};
    const Plan plan = simd::choose_plan(problem, threads, 1, kernels.lanes, caches, times);
    SCOPED_TRACE(testing::Message()
                 << problem.nx << "x" << problem.ny << " " << to_string(boundary) << ", lanes "
                 << kernels.lanes << ", threads " << plan.threads << ", depth " << plan.depth
                 << ", strips " << plan.strips << " of " << plan.strip_width << ", halo "
                 << plan.halo << (plan.resident ? ", resident" : ""));
    ASSERT_TRUE(is_sound(plan, problem, threads));
    plans_with_strips += plan.strips > 1 ? 1 : 0;
    resident_plans += plan.resident ? 1 : 0;

    auto field = field_of<TypeParam>(Content::random, problem.nx, problem.ny);
    const std::int64_t steps = draw(1, 40);
    const auto expected = advanced_by_oracle(problem, field, steps);
    if (plan.resident) {
      advance_resident(problem, field, steps, kernels);
    } else {
      PlannedRun<TypeParam>(problem, plan, kernels).advance(field, steps, engine);
    }
    ASSERT_TRUE(same_bits<TypeParam>(field.cells(), expected.cells(), problem.nx)) << steps;
  }
  EXPECT_GE(plans_with_strips, 60); // the draw reaches what it is for
  EXPECT_GE(resident_plans, 20);
}

// The model may be off by a fifth, so a gain that is smaller is none.
TEST(SimdPlan, AThreadMoreBringsHalfOfItsShare) {
  const Caches caches{.l1d = 32 << 10, .l2 = 512 << 10, .l3 = 32 << 20};
  const simd::KernelTimes times;
  const auto plan_of = [&](std::int64_t side, int usable_cpus) {
    return simd::choose_plan({.nx = side, .ny = side}, 0, usable_cpus, 8, caches, times);
  };
  const auto ns_of = [&](std::int64_t side, const Plan& plan) {
    return simd::step_ns({.nx = side, .ny = side}, plan, 8, caches, times);
  };
  EXPECT_EQ(plan_of(1024, 8).threads, 8);
  EXPECT_EQ(plan_of(32, 8).threads, 1);
  int withheld = 0; // plans of more threads that would be faster, and not enough
  for (std::int64_t side = 32; side <= 1024; side += 8) {
    const Plan one = plan_of(side, 1);
    const Plan chosen = plan_of(side, 2);
    const Plan two = simd::choose_plan({.nx = side, .ny = side}, 2, 2, 8, caches, times);
    EXPECT_EQ(one.threads, 1);
    EXPECT_EQ(two.threads, 2);
    const double gain = 1 - ns_of(side, two) / ns_of(side, one);
    EXPECT_EQ(chosen.threads, gain >= 0.25 ? 2 : 1) << side << " " << gain;
    withheld += gain > 0.01 && chosen.threads == 1 ? 1 : 0;
  }
  EXPECT_GT(withheld, 0);
}

// A factor that is 0 makes products of -0, by which a cell of -0 keeps its sign. (With any other
// factor, the product beside a cell of -0 is never exactly -0.)
TYPED_TEST(SimdPlanTest, AFactorOfZeroKeepsTheSignOfZero) {
  auto problem = problem_of<TypeParam>(40, 12, Boundary::periodic);
  problem.dt = problem.diffusivity = 1e-200;
  auto initial = field_of<TypeParam>(Content::random, problem.nx, problem.ny);
  for (std::size_t i = 0; i < initial.cells().size(); ++i) {
    initial.cells()[i] = i % 7 == 0 ? -TypeParam{0} : TypeParam{-1};
  }
  const auto expected = advanced_by_oracle(problem, initial, 1);
  EXPECT_TRUE(std::ranges::any_of(expected.cells(), [](TypeParam cell) {
    return cell == 0 && std::signbit(cell);
  })); // the field is what this is about
  for (const simd::KernelSet& set : kernel_sets()) {
    auto field = copy_of(initial);
    advance_resident(problem, field, 1, row_kernels<TypeParam>(set));
    EXPECT_TRUE(same_bits<TypeParam>(field.cells(), expected.cells(), problem.nx));
  }
}

} // namespace
} // namespace diffbench::conformance
