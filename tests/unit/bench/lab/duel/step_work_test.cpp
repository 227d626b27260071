// SPDX-License-Identifier: Apache-2.0
#include "step_work.hpp"

#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

TEST(StepWork, IsToldInWords) {
  EXPECT_EQ(to_text({.nx = 64, .ny = 32, .iterations = 10}), "10 steps of 64x32 float32 cells");
  EXPECT_EQ(to_text({.nx = 1, .ny = 2, .iterations = 1, .dtype = Dtype::float64}),
            "1 step of 1x2 float64 cells");
}

} // namespace
} // namespace diffbench::bench
