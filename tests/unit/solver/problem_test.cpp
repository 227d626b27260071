// SPDX-License-Identifier: Apache-2.0
#include "diffbench/problem.hpp"

#include "scratch.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string complaint(const Problem& problem, Stability stability = Stability::required) {
  return message_of<InvalidInput>([&] { validate(problem, stability); });
}

TEST(ProblemTest, TheDefaultAndTheBoundsAreValid) {
  EXPECT_NO_THROW(validate(Problem{}));
  EXPECT_NO_THROW(validate({.nx = min_extent, .ny = max_extent}));
  EXPECT_NO_THROW(validate({.dt = 0.25}));
}

TEST(ProblemTest, ExtentsOutOfBoundsAreNamed) {
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{-5}, min_extent - 1,
                                    max_extent + 1, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(complaint({.nx = extent}),
                AllOf(HasSubstr("nx = " + std::to_string(extent)), HasSubstr("from 3 to")));
    EXPECT_THAT(complaint({.ny = extent}), HasSubstr("ny = " + std::to_string(extent)));
  }
}

TEST(ProblemTest, NumbersMustBeFiniteAndPositive) {
  for (const double value : {0.0, -0.1, nan, infinity, -infinity}) {
    EXPECT_THAT(complaint({.dt = value}), HasSubstr("dt = "));
    EXPECT_THAT(complaint({.diffusivity = value}), HasSubstr("diffusivity = "));
    EXPECT_THAT(complaint({.spacing = value}), HasSubstr("spacing = "));
    // What lifts the stability limit must not let a NaN through.
    complaint({.dt = value}, Stability::waived);
  }
  EXPECT_THAT(complaint({.boundary_value = nan}), HasSubstr("boundary value"));
  EXPECT_THAT(complaint({.boundary_value = infinity}), HasSubstr("boundary value"));
  EXPECT_THAT(complaint({.boundary_value = -1e38}), HasSubstr("float32 from -4.25"));
  EXPECT_NO_THROW(validate({.boundary_value = -1e38, .dtype = Dtype::float64}));
  EXPECT_THAT(complaint({.spacing = 1e-200}, Stability::waived), HasSubstr("overflows"));
}

TEST(ProblemTest, AnUnstableStepIsRefusedWithTheLimitUnlessAllowed) {
  EXPECT_THAT(complaint({.dt = 0.3}), AllOf(HasSubstr("dt <= 0.25"), HasSubstr("unstable")));
  EXPECT_THAT(complaint({.spacing = 2, .diffusivity = 4, .dt = 0.3}), HasSubstr("dt <= 0.25"));
  EXPECT_THAT(complaint({.dt = std::nextafter(0.25, 1.0)}), HasSubstr("unstable"));
  EXPECT_NO_THROW(validate({.dt = 0.3}, Stability::waived));
}

TEST(ProblemTest, CountsFollowTheConvention) {
  const Problem problem{.nx = 640, .ny = 10, .dtype = Dtype::float64};
  EXPECT_EQ(problem.cells(), 6400);
  EXPECT_EQ(problem.field_bytes(), 51200);
  EXPECT_EQ(problem.bytes_per_step(), 102400);
  EXPECT_EQ(problem.flops_per_step(), 7 * 6400);
}

TEST(ProblemTest, TheFactorIsComputedInDoubleAndRoundedOnce) {
  // In float arithmetic, 0.1f * 1.1f would round three times and give other bits.
  const Problem problem{.diffusivity = 1.1, .dt = 0.1};
  EXPECT_EQ(problem.update_factor<float>(), static_cast<float>(0.1 * 1.1));
  EXPECT_NE(problem.update_factor<float>(), 0.1F * 1.1F);
  EXPECT_EQ(problem.update_factor<double>(), 0.1 * 1.1);
}

TEST(ProblemTest, NamesGoBothWays) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
    EXPECT_EQ(boundary_names.parse(to_string(boundary)), boundary);
  }
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    EXPECT_EQ(dtype_names.parse(to_string(dtype)), dtype);
  }
  EXPECT_THAT(message_of<InvalidInput>([] { static_cast<void>(boundary_names.parse("open")); }),
              AllOf(HasSubstr("'open'"), HasSubstr("periodic, dirichlet, neumann")));
  EXPECT_THAT(message_of<InvalidInput>([] { static_cast<void>(dtype_names.parse("")); }),
              HasSubstr("float32, float64"));
}

} // namespace
} // namespace diffbench
