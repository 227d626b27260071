// SPDX-License-Identifier: Apache-2.0
// The fields of a proof: what their cells hold, and that they can show what they are there for.
#include "diffbench/proof_fields.hpp"

#include "diffbench/verify.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace diffbench {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

template <typename T>
Field<T> filled(ProofCells cells, std::int64_t nx, std::int64_t ny) {
  Field<T> field(nx, ny);
  fill_proof_cells(cells, field);
  return field;
}

template <typename T>
void expect_ends_of_the_range() {
  using Limits = std::numeric_limits<T>;
  const auto largest = [](ProofCells cells) {
    const Field<T> field = filled<T>(cells, 67, 19);
    return std::ranges::max(field.cells());
  };
  EXPECT_LT(largest(ProofCells::denormal), Limits::min());
  EXPECT_GT(largest(ProofCells::near_denormal), Limits::min());
  EXPECT_GT(largest(ProofCells::large), Limits::max() / 9);
  EXPECT_LE(largest(ProofCells::large), Limits::max() / 8);
}

TEST(ProofFields, ReachBothEndsOfTheRange) {
  expect_ends_of_the_range<float>();
  expect_ends_of_the_range<double>();
}

TEST(ProofFields, AreSolvedByTheOracleInFiniteNumbers) {
  for (const ProofField& small : proof_fields(Dtype::float32, false)) {
    for (const ProofCells cells : small.cells) {
      Field<float> field = filled<float>(cells, small.problem.nx, small.problem.ny);
      EXPECT_TRUE(
          std::ranges::all_of(std::as_const(field).cells(), [](float u) { return u >= 0; }));
      advance_reference(small.problem, field, 33);
      EXPECT_EQ(summarize<float>(field.cells()).nonfinite, 0);
    }
  }
}

TEST(ProofFields, MixedKeepItsKindsForSomeSteps) {
  Field<float> field = filled<float>(ProofCells::mixed, 640, 480);
  advance_reference({.nx = 640, .ny = 480}, field, 20);
  EXPECT_LT(field.row(30)[30], std::numeric_limits<float>::min());
  EXPECT_GT(field.row(450)[610], 1e8F);
  EXPECT_LT(field.row(240)[320], 1.0F);
  EXPECT_EQ(summarize<float>(field.cells()).nonfinite, 0);
}

TEST(ProofFields, HaveShapesAndBoundaries) {
  const auto fields = proof_fields(Dtype::float64, false);
  const auto any = [&](auto holds) {
    return std::ranges::any_of(fields, holds, &ProofField::problem);
  };
  EXPECT_TRUE(any([](const Problem& p) { return p.nx % 2 == 1 && p.ny % 2 == 1 && p.nx > 64; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.nx == min_extent && p.ny == min_extent; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.nx < 8 && p.ny > 16; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.nx > 2000 && p.ny < 8; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.boundary == Boundary::neumann; }));
  // The same as float gives another number, or that would not show.
  const Problem& one = fields.front().problem;
  const auto h = static_cast<float>(one.spacing);
  EXPECT_NE(one.update_factor<float>(),
            static_cast<float>(one.dt) * static_cast<float>(one.diffusivity) / (h * h));
  EXPECT_LT(proof_fields(Dtype::float64, true).size(), fields.size());
}

TEST(ProofFields, StepsLieAroundASweep) {
  const std::int64_t depths[] = {12, 7};
  EXPECT_THAT(proof_steps({}, false), ElementsAre(1, 2));
  EXPECT_THAT(proof_steps(depths, false), ElementsAre(1, 2, 8, 13));
  EXPECT_THAT(proof_steps(depths, true), IsSupersetOf({7, 8, 12, 13, 15, 25}));
  EXPECT_THAT(proof_steps({}, true), IsSupersetOf({3, 5, 9, 17})); // unspoken depths of 2, 4, 8, 16
}

} // namespace
} // namespace diffbench
