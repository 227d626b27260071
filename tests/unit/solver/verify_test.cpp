// SPDX-License-Identifier: Apache-2.0
// The oracle against examples worked by hand, and the comparison against what must not pass it.
#include "diffbench/verify.hpp"

#include "scratch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

using testing::ElementsAreArray;

constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float float_infinity = std::numeric_limits<float>::infinity();

using Cells = std::vector<float>;

template <typename T>
std::vector<T> advanced(const Problem& problem, const std::vector<T>& start, std::int64_t steps) {
  Field<T> field(problem.nx, problem.ny);
  std::ranges::copy(start, field.cells().begin());
  advance_reference(problem, field, steps);
  return {field.cells().begin(), field.cells().end()};
}

// dt*D/h^2 = 1/4 makes a step the mean of the four neighbours: exact in binary, easy by hand.
Problem small(std::int64_t n, Boundary boundary, double boundary_value = 0) {
  return {.nx = n, .ny = n, .dt = 0.25, .boundary = boundary, .boundary_value = boundary_value};
}

// clang-format off
const Cells start3 = { 1,  2,  3,
                       4,  5,  6,
                       7,  8, 16};
const Cells start4 = { 0,  4,  8, 12,
                      16, 20, 24, 28,
                      32, 36, 40, 44,
                      48, 52, 56, 64};

TEST(Oracle, Periodic) {
  // Top left of 3x3: above 7, below 4, left 3, right 2.
  EXPECT_THAT(advanced(small(3, Boundary::periodic), start3, 1), ElementsAreArray(Cells{
       4.00F,  4.25F,  6.25F,
       4.75F,  5.00F,  7.00F,
       7.25F,  7.50F,  6.00F}));
  EXPECT_THAT(advanced(small(4, Boundary::periodic), start4, 1), ElementsAreArray(Cells{
      20, 20, 24, 25,
      20, 20, 24, 24,
      36, 36, 40, 41,
      37, 36, 41, 40}));
}

TEST(Oracle, Dirichlet) {
  // Top left of 3x3: above 10, below 4, left 10, right 2.
  EXPECT_THAT(advanced(small(3, Boundary::dirichlet, 10), start3, 1), ElementsAreArray(Cells{
       6.50F,  4.75F,  7.00F,
       5.75F,  5.00F,  8.50F,
       8.00F,  9.50F,  8.50F}));
  EXPECT_THAT(advanced(small(4, Boundary::dirichlet), start4, 1), ElementsAreArray(Cells{
       5,  7, 10,  9,
      13, 20, 24, 20,
      25, 36, 40, 33,
      21, 35, 39, 25}));
}

TEST(Oracle, Neumann) {
  // Top left of 3x3: above 1, below 4, left 1, right 2.
  EXPECT_THAT(advanced(small(3, Boundary::neumann), start3, 1), ElementsAreArray(Cells{
       2.00F,  2.75F,  3.50F,
       4.25F,  5.00F,  7.50F,
       6.50F,  9.00F, 11.50F}));
  EXPECT_THAT(advanced(small(4, Boundary::neumann), start4, 1), ElementsAreArray(Cells{
       5,  8, 12, 15,
      17, 20, 24, 27,
      33, 36, 40, 44,
      45, 48, 53, 57}));
}
// clang-format on

TEST(Oracle, StepsAddUpAndZeroStepsChangeNothing) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
    const Problem problem = small(4, boundary, 3);
    EXPECT_EQ(advanced(problem, start4, 0), start4);
    EXPECT_EQ(advanced(problem, start4, 5), advanced(problem, advanced(problem, start4, 2), 3));
  }
}

TEST(Oracle, RowsAndColumnsAreNotExchanged) {
  const Problem problem{.nx = 4, .ny = 3, .dt = 0.25, .boundary = Boundary::dirichlet};
  Cells start(12, 0.0F);
  start[1 * 4 + 3] = 8; // row 1, last column
  Cells expected(12, 0.0F);
  expected[0 * 4 + 3] = expected[2 * 4 + 3] = expected[1 * 4 + 2] = 2;
  EXPECT_EQ(advanced(problem, start, 1), expected);
}

TEST(Oracle, RoundsInTheOrderOfTheLine) {
  // float32 loses the 1 in above + below = 1e8 + 1. Any other order would keep both ones.
  Cells start(9, 0.0F);
  start[1] = 1e8F;  // above the centre
  start[7] = 1;     // below
  start[3] = -1e8F; // left
  start[5] = 1;     // right
  EXPECT_EQ(advanced(small(3, Boundary::dirichlet), start, 1)[4], 0.25F);
}

Comparison compared(const Cells& result, const Cells& reference) {
  return compare<float>(result, reference);
}

TEST(Compare, EqualBitsPass) {
  const Comparison comparison = compared({1, -0.0F, 3e-45F}, {1, -0.0F, 3e-45F});
  EXPECT_TRUE(comparison.bitwise);
  EXPECT_EQ(comparison.first_difference, -1);
  EXPECT_EQ(comparison.max_abs_error, 0);
  EXPECT_EQ(comparison.nonfinite, 0);
}

TEST(Compare, ReportsTheFirstDifferenceAndTheLargestError) {
  const Comparison comparison = compared({1, 2.5F, 7, 4}, {1, 2, 3, 4});
  EXPECT_FALSE(comparison.bitwise);
  EXPECT_EQ(comparison.first_difference, 1);
  EXPECT_EQ(comparison.max_abs_error, 4);
}

TEST(Compare, NanNeverPassesNotEvenAgainstTheSameNan) {
  const Comparison same = compared({1, float_nan}, {1, float_nan});
  EXPECT_FALSE(same.bitwise);
  EXPECT_EQ(same.nonfinite, 1);
  const Comparison result_only = compared({float_nan, 1}, {1, 1});
  EXPECT_FALSE(result_only.bitwise);
  EXPECT_EQ(result_only.first_difference, 0);
  EXPECT_FALSE(compared({1, 1}, {1, float_nan}).bitwise);
  EXPECT_FALSE(compared({float_infinity}, {float_infinity}).bitwise);
}

TEST(Compare, TheSignOfZeroAndTheLastBitCount) {
  EXPECT_FALSE(compared({-0.0F}, {0.0F}).bitwise);
  EXPECT_FALSE(compared({1.0F}, {std::nextafter(1.0F, 2.0F)}).bitwise);
}

TEST(Compare, SizesMustAgree) {
  EXPECT_FALSE(compared({1, 2}, {1, 2, 3}).bitwise);
  EXPECT_FALSE(compared({1, 2, 3}, {1, 2}).bitwise);
  EXPECT_FALSE(compared({}, {1}).bitwise);
}

/// A field of 0.5 but for these cells of 5x7.
Difference with_wrong(const std::vector<std::pair<std::int64_t, std::int64_t>>& wrong,
                      float value = 0.75F, std::int64_t steps = 1) {
  const Cells right(35, 0.5F);
  Cells result = right;
  for (const auto& [x, y] : wrong) {
    result[static_cast<std::size_t>(y * 5 + x)] = value;
  }
  return difference<float>(result, right, 5, steps);
}

TEST(FieldDifference, NamesTheFirstCellAndCountsThem) {
  const Difference found = with_wrong({{3, 2}, {1, 4}});
  EXPECT_EQ(found.cells, 2);
  EXPECT_EQ(found.x, 3);
  EXPECT_EQ(found.y, 2);
  EXPECT_EQ(found.max_abs_error, 0.25);
  EXPECT_EQ(found.max_ulps, 1 << 22);
  EXPECT_EQ(with_wrong({}).cells, 0);
}

TEST(FieldDifference, SaysWhereCellsLie) {
  const auto place = [](const std::vector<std::pair<std::int64_t, std::int64_t>>& wrong,
                        std::int64_t steps = 1) { return with_wrong(wrong, 0, steps).place; };
  EXPECT_EQ(place({{0, 0}, {4, 6}}), FieldPlace::corner);
  EXPECT_EQ(place({{0, 0}, {2, 0}}), FieldPlace::top);
  EXPECT_EQ(place({{1, 6}}), FieldPlace::bottom);
  EXPECT_EQ(place({{0, 6}, {0, 3}}), FieldPlace::left);
  EXPECT_EQ(place({{4, 3}}), FieldPlace::right);
  EXPECT_EQ(place({{4, 3}, {2, 0}}), FieldPlace::edges);
  EXPECT_EQ(place({{3, 5}, {2, 3}}), FieldPlace::inside);
  EXPECT_EQ(place({{3, 5}, {4, 5}}), FieldPlace::scattered);
  EXPECT_EQ(place({{2, 1}}, 2), FieldPlace::top); // a fault spreads by a cell a step
  EXPECT_EQ(place({{0, 0}}, 3), FieldPlace::unplaced) << "the field is too small to tell";
}

TEST(FieldDifference, EverywhereIsInAllPartsOfTheField) {
  std::vector<std::pair<std::int64_t, std::int64_t>> cells;
  for (const std::int64_t y : {0, 3, 6}) {
    for (const std::int64_t x : {0, 2, 4}) {
      cells.emplace_back(x, y);
    }
  }
  EXPECT_EQ(with_wrong(cells).place, FieldPlace::everywhere);
  EXPECT_EQ(with_wrong(cells, 0, 100).place, FieldPlace::everywhere);
  cells.pop_back();
  EXPECT_EQ(with_wrong(cells).place, FieldPlace::scattered);
  const float right[] = {1, 2, 3};
  const float wrong[] = {0, 2, 0};
  EXPECT_EQ(difference<float>(wrong, right, 3, 1).place, FieldPlace::unplaced);
  EXPECT_EQ(difference<float>(std::span(wrong).first(1), std::span(right).first(1), 1, 1).place,
            FieldPlace::everywhere);
}

TEST(FieldDifference, CountsNumbersBetweenCells) {
  const auto ulps = [](float a, float b) {
    return difference<float>(std::span(&a, 1), std::span(&b, 1), 1, 1).max_ulps;
  };
  EXPECT_EQ(ulps(1, std::nextafter(1.0F, 2.0F)), 1);
  EXPECT_EQ(ulps(1e-45F, -1e-45F), 2);
  EXPECT_EQ(ulps(0.0F, -0.0F), 0);
  EXPECT_EQ(ulps(float_nan, 1), 0);
  const double large = 1e308;
  const double other = -large;
  EXPECT_EQ(difference<double>(std::span(&large, 1), std::span(&other, 1), 1, 1).max_ulps,
            std::numeric_limits<std::int64_t>::max());
  const double two = 2; // 2^63 numbers from -2
  const double minus_two = -2;
  EXPECT_EQ(difference<double>(std::span(&minus_two, 1), std::span(&two, 1), 1, 1).max_ulps,
            std::numeric_limits<std::int64_t>::max());
}

TEST(FieldDifference, RoundingIsToldFromFaults) {
  const float next = std::nextafter(0.5F, 1.0F);
  EXPECT_TRUE(with_wrong({{1, 1}}, next).within_rounding(1));
  EXPECT_FALSE(with_wrong({{1, 1}}, next).is_rounding(1))
      << "other orders show in other cells, too";
  EXPECT_FALSE(with_wrong({{1, 1}}).within_rounding(1000));
  EXPECT_FALSE(with_wrong({{1, 1}}, float_nan).within_rounding(1000));
  Difference found = with_wrong({{1, 1}}, next);
  found.place = FieldPlace::everywhere;
  EXPECT_TRUE(found.is_rounding(1));
}

TEST(FieldDifference, CellsOfBothSignsAreNotJudged) {
  const float right[] = {1, 0, -1};
  const float wrong[] = {1, 0, std::nextafter(-1.0F, -2.0F)};
  const auto within = [&](std::size_t first, std::size_t count) {
    return difference<float>(std::span(wrong).subspan(first, count),
                             std::span(right).subspan(first, count), 1, 1)
        .within_rounding(1);
  };
  EXPECT_TRUE(within(1, 2)) << "zero has both signs";
  EXPECT_FALSE(within(0, 3));
}

TEST(Summarize, FiniteCellsAndTheRest) {
  const Cells cells = {float_nan, -2, 0.5F, float_infinity, 3, -float_infinity};
  const Summary summary = summarize<float>(cells);
  EXPECT_EQ(summary.min, -2);
  EXPECT_EQ(summary.max, 3);
  EXPECT_EQ(summary.sum, 1.5);
  EXPECT_EQ(summary.nonfinite, 3);
  EXPECT_EQ(summary.denormal, 0);
}

TEST(Summarize, CountsDenormalNumbersOfTheCellsType) {
  const Cells cells = {0, -0.0F, 1e-40F, -1e-45F, std::numeric_limits<float>::min(), 1};
  EXPECT_EQ(summarize<float>(cells).denormal, 2);
}

TEST(Summarize, AddsInDouble) {
  const Cells cells(1000, 0.1F);
  EXPECT_NEAR(summarize<float>(cells).sum, 1000 * static_cast<double>(0.1F), 1e-9);
}

TEST(Summarize, NothingFinite) {
  const Cells cells = {float_nan, float_nan};
  const Summary summary = summarize<float>(cells);
  EXPECT_EQ(summary.nonfinite, 2);
  EXPECT_EQ(summary.min, 0);
  EXPECT_EQ(summary.max, 0);
}

} // namespace
} // namespace diffbench
