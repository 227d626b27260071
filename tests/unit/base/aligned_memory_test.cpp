// SPDX-License-Identifier: Apache-2.0
#include "diffbench/aligned_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace diffbench {
namespace {

constexpr std::size_t period = detail::alias_period;

/// On the circle of addresses modulo 4096.
std::size_t distance(std::size_t a, std::size_t b) {
  const std::size_t apart = (a + period - b % period) % period;
  return std::min(apart, period - apart);
}

TEST(Stagger, NoStreamOfAStencilMeetsWhatItWrites) {
  for (std::size_t row = 1; row <= 3 * period; ++row) {
    const std::size_t d = stagger_beside(row).bytes;
    ASSERT_LT(d, period);
    ASSERT_EQ(d % array_alignment, 0U);
    for (const std::size_t stream : {std::size_t{0}, row % period, period - row % period}) {
      ASSERT_GE(distance(d, stream), 10 * array_alignment)
          << row; // one field read, the other written
      ASSERT_GE(distance(period - d, stream), 10 * array_alignment) << row; // and after the swap
    }
  }
}

TEST(Stagger, ArraysGoneThroughTogetherAllDiffer) {
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_GE(distance(stagger_of(a).bytes, stagger_of(b).bytes), 512U);
    }
  }
}

TEST(Stagger, ALargeArrayBeginsThereInItsPage) {
  const auto place = [](const AlignedArray<float>& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % detail::huge_page;
  };
  const AlignedArray<float> first(1 << 20);
  AlignedArray<float> second(1 << 20, stagger_beside(1032));
  EXPECT_EQ(place(first), 0U);
  EXPECT_EQ(place(second), stagger_beside(1032).bytes);
  EXPECT_EQ(*std::max_element(second.data(), second.data() + second.size()), 0);
  second.fill(1);
  const AlignedArray<float> moved = std::move(second);
  EXPECT_EQ(moved.data()[moved.size() - 1], 1);
}

} // namespace
} // namespace diffbench
