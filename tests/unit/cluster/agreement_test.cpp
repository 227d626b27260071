// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/agreement.hpp"

#include "barrier_ranks.hpp"
#include "scratch.hpp"

#include <new>

#include <gmock/gmock.h>

namespace diffbench::cluster {
namespace {

using testing::Each;

TEST(AgreementTest, AllGoOnWhenNoneFails) {
  EXPECT_THAT(outcomes(3, [](Transport& transport) { collectively(&transport, [] {}); }), Each(""));
}

TEST(AgreementTest, AllThrowTheErrorOfTheLowestRankThatFails) {
  const auto step = [](Transport& transport) {
    collectively(&transport, [&] {
      if (transport.rank() == 1) {
        throw InvalidInput("one");
      }
      if (transport.rank() == 2) {
        throw Error("two");
      }
    });
  };
  EXPECT_THAT(outcomes(3, step), Each("invalid: one (rank 1)"));
}

TEST(AgreementTest, WhateverARankThrowsIsAnErrorOfAll) {
  const auto step = [](Transport& transport) {
    collectively(&transport, [&] {
      if (transport.rank() == 2) {
        throw std::bad_alloc();
      }
    });
  };
  EXPECT_THAT(outcomes(3, step), Each("error: std::bad_alloc (rank 2)"));
}

TEST(AgreementTest, ALongMessageIsCut) {
  const auto step = [](Transport& transport) {
    collectively(&transport, [] { throw Error(std::string(10'000, 'x')); });
  };
  EXPECT_THAT(outcomes(2, step), Each("error: " + std::string(4607, 'x') + " (rank 0)"));
}

TEST(AgreementTest, WithoutATransportAnErrorPassesAsItIs) {
  EXPECT_EQ(
      message_of<InvalidInput>([] { collectively(nullptr, [] { throw InvalidInput("x"); }); }),
      "x");
}

TEST(AgreementTest, TheEndIsNotAskedAbout) {
  const auto alone = [](Transport& transport) {
    if (transport.rank() == 0) {
      collectively(&transport, [] { throw Ended("rank 7 said so"); });
    }
  };
  EXPECT_EQ(outcomes(2, alone)[0], "error: rank 7 said so");
}

} // namespace
} // namespace diffbench::cluster
