// SPDX-License-Identifier: Apache-2.0
#include "src/kept_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace diffbench {
namespace {

constexpr std::size_t few_bytes = 100;
constexpr std::size_t large = 300'000; // in pages of its own

class KeptMemoryTest : public testing::TestWithParam<std::size_t> {};

TEST_P(KeptMemoryTest, WhatIsFreedServesTheNextRequestOfItsSize) {
  const std::size_t count = GetParam();
  const KeptMemory<float>::Lease lease;
  KeptMemory<float> memory;
  float* first = memory.allocate(count);
  float* second = memory.allocate(count);
  EXPECT_NE(first, second);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % array_alignment, 0U);
  std::fill_n(first, count, 1.0F);
  memory.deallocate(first, count);

  float* other = memory.allocate(count + 1);
  EXPECT_NE(other, first);
  EXPECT_EQ(memory.allocate(count), first);
  float* third = memory.allocate(count);
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  memory.deallocate(other, count + 1);
  float* fourth = memory.allocate(count);
  EXPECT_NE(fourth, other); // a larger one does not serve
  for (float* block : {first, second, third, fourth}) {
    memory.deallocate(block, count);
  }
}

TEST_P(KeptMemoryTest, NothingIsKeptBeyondALease) {
  const std::size_t count = GetParam();
  KeptMemory<float> memory;
  float* kept = nullptr;
  {
    const KeptMemory<float>::Lease lease;
    kept = memory.allocate(count);
    float* in_use = memory.allocate(count);
    memory.deallocate(kept, count);
    kept = in_use; // outlives the lease
  }
  kept[count - 1] = 1;
  const KeptMemory<float>::Lease lease;
  memory.deallocate(kept, count);
  EXPECT_EQ(memory.allocate(count), kept); // the only one
  memory.deallocate(kept, count);
}

TEST_P(KeptMemoryTest, EverythingIsKeptUntilTheLastLease) {
  const std::size_t count = GetParam();
  KeptMemory<float> memory;
  const KeptMemory<float>::Lease lease;
  float* block = memory.allocate(count);
  {
    const KeptMemory<float>::Lease shorter;
    memory.deallocate(block, count);
  }
  EXPECT_EQ(memory.allocate(count), block);
  memory.deallocate(block, count);
}

TEST_P(KeptMemoryTest, WhatAnotherThreadFreesItKeeps) {
  const std::size_t count = GetParam();
  KeptMemory<float> memory;
  float* block = memory.allocate(count);
  std::thread([&] {
    const KeptMemory<float>::Lease lease;
    memory.deallocate(block, count);
    EXPECT_EQ(memory.allocate(count), block);
    memory.deallocate(block, count);
  }).join();
}

INSTANTIATE_TEST_SUITE_P(Sizes, KeptMemoryTest, testing::Values(few_bytes, large));

} // namespace
} // namespace diffbench
