// SPDX-License-Identifier: Apache-2.0
// What is said of a row that is wrong, and of the fields that a row was proved on.

#include "result_file.hpp"
#include "sample_result.hpp"
#include "table.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Verification right() { return {.bitwise = true, .steps = 20}; }

WrongField field_with(const Difference& found) {
  return {.nx = 67,
          .ny = 19,
          .boundary = Boundary::neumann,
          .cells = ProofCells::random,
          .steps = 1,
          .difference = found};
}

Verification wrong_on(const Difference& found) {
  Verification verification = right();
  verification.bitwise = false;
  verification.fields = ProvedFields{.count = 3,
                                     .grids = {"67x19"},
                                     .boundaries = {Boundary::neumann},
                                     .most_steps = 1,
                                     .wrong = field_with(found)};
  return verification;
}

constexpr Difference a_fault = {.cells = 67,
                                .x = 0,
                                .y = 18,
                                .place = FieldPlace::bottom,
                                .max_abs_error = 0.25,
                                .max_ulps = 4'000'000,
                                .nonfinite = 0};
constexpr Difference another_order = {.cells = 700,
                                      .x = 1,
                                      .y = 0,
                                      .place = FieldPlace::everywhere,
                                      .max_abs_error = 1.25e-7,
                                      .max_ulps = 2,
                                      .nonfinite = 0};

TEST(WrongRow, AFaultIsToldFromAnotherOrderOfTheSums) {
  EXPECT_EQ(describe_wrong(wrong_on(a_fault), {}),
            "differs from the reference, though not in the field of the run; on 67x19 random "
            "cells, neumann, after 1 step by up to 0.25 (4000000 ulp) in 67 of 1273 cells at the "
            "bottom edge, first at x=0 y=18; more than rounding does: a fault at the bottom edge; "
            "it was not timed");
  EXPECT_THAT(describe_wrong(wrong_on(another_order), {}),
              HasSubstr("by up to 1.25e-07 (2 ulp) in 700 of 1273 cells everywhere, first at x=1 "
                        "y=0; no more than rounding does: another order of the operations, or a "
                        "fused multiply-add (--tolerance 2 allows what was found so far)"));
}

TEST(WrongRow, ASmallFaultInOnePlaceIsNotCalledRounding) {
  Difference corner = another_order;
  corner.place = FieldPlace::corner;
  corner.cells = 1;
  EXPECT_THAT(describe_wrong(wrong_on(corner), {}),
              HasSubstr("(2 ulp) in 1 of 1273 cells in a corner, first at x=1 y=0; as little as "
                        "rounding does, but only in a corner: another order of the operations "
                        "there, or a fault that is so small; it was not timed"));
  EXPECT_TRUE(
      verification_json(wrong_on(corner)).find("fields.wrong.difference.rounding").is_null());
  const Value rounding =
      verification_json(wrong_on(another_order)).find("fields.wrong.difference.rounding");
  EXPECT_EQ(to_text(rounding), "true\n");
  const Value fault = verification_json(wrong_on(a_fault)).find("fields.wrong.difference.rounding");
  EXPECT_EQ(to_text(fault), "false\n");
}

TEST(WrongRow, TheFieldOfTheRunIsToldOf) {
  Verification verification = wrong_on(a_fault);
  verification.difference = another_order;
  EXPECT_THAT(describe_wrong(verification, {}),
              StartsWith("differs from the reference after 20 steps by up to 1.25e-07 (2 ulp) in "
                         "700 of 409600 cells everywhere, first at x=1 y=0; on 67x19 random"));
  verification.fields->wrong.reset();
  EXPECT_THAT(describe_wrong(verification, {}),
              HasSubstr("first at x=1 y=0; on small fields it is right; no more than rounding"));
  verification.fields->count = 0;
  EXPECT_THAT(describe_wrong(verification, {}), HasSubstr("first at x=1 y=0; no more than"));
  verification.difference->one_sign = false;
  EXPECT_THAT(describe_wrong(verification, {}),
              EndsWith("y=0; cells of both signs do not tell rounding from a fault; it was not "
                       "timed"));
  EXPECT_TRUE(verification_json(verification).find("difference.rounding").is_null());
  verification.difference->one_sign = true;
  verification.fields.reset();
  verification.difference->nonfinite = 1;
  EXPECT_THAT(describe_wrong(verification, {}),
              EndsWith("y=0, 1 not finite; more than rounding does: a fault everywhere; it was not "
                       "timed"));
}

TEST(WrongRow, RowsAreToldWithTheFieldsTheyWereProvedOn) {
  ComparisonResult result = sample_result();
  EXPECT_EQ(format_proofs(result), "");
  const ProvedFields small{
      .count = 9, .grids = {"3x3", "67x19"}, .boundaries = {Boundary::periodic, Boundary::neumann}};
  result.rows[0].verification->fields = small;
  result.rows[1].verification->fields = small;
  EXPECT_EQ(format_proofs(result),
            "verified: the field of the run, and others of 3x3, 67x19 cells, periodic, neumann\n");
  result.rows[1].verification->fields = ProvedFields{};
  EXPECT_EQ(format_proofs(result),
            "verified: slow: the field of the run, and others of 3x3, 67x19 cells, periodic, "
            "neumann\nverified: fast: the field of the run, and no others\n");
}

TEST(WrongRow, WithinAToleranceIsNotVerified) {
  ComparisonResult result = sample_result();
  result.rows[1].verification->bitwise = false;
  result.rows[1].verification->within_ulps = 2;
  EXPECT_TRUE(result.rows[1].ranked());
  EXPECT_EQ(format_verified(result, result.rows[1]), "within 2 ulp");
  EXPECT_THAT(verdict(result),
              HasSubstr("is the fastest accepted (not verified: see the note) row"));
}

} // namespace
} // namespace diffbench::bench
