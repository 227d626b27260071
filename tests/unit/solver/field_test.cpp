// SPDX-License-Identifier: Apache-2.0
#include "diffbench/field.hpp"

#include "scratch.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>

// AddressSanitizer would end the program at a request beyond its own limit; this lets it answer as
// the system does. Other builds never call it.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace diffbench {
namespace {

TEST(FieldTest, IsZeroDenseAndAligned) {
  // From a few bytes to sizes that are laid on huge pages.
  for (const std::int64_t nx : {3, 17, 640, 2048}) {
    Field<float> field(nx, 1031);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(field.row(0)) % array_alignment, 0U);
    EXPECT_EQ(field.row(7) - field.row(0), 7 * nx);
    EXPECT_EQ(static_cast<std::int64_t>(field.cells().size()), nx * 1031);
    EXPECT_TRUE(std::ranges::all_of(field.cells(), [](float cell) { return cell == 0; }));
  }
}

// Whether the kernel then gives them is its own affair.
TEST(FieldTest, FieldsOf64KiBAndMoreBeginWhereAHugePageCan) {
  const auto remainder = [](const Field<float>& field) {
    return reinterpret_cast<std::uintptr_t>(field.cells().data()) % (std::uintptr_t{2} << 20);
  };
  const Field<float> first(128, 128), second(128, 128), large(1024, 1031);
  EXPECT_EQ(remainder(first), 0U);
  EXPECT_EQ(remainder(second), 0U);
  EXPECT_EQ(remainder(large), 0U);
}

TEST(FieldTest, FreshMemoryIsZeroAfterAnotherFieldDirtiedIt) {
  for (int round = 0; round < 3; ++round) {
    Field<double> field(33, 31);
    EXPECT_TRUE(std::ranges::all_of(field.cells(), [](double cell) { return cell == 0; }));
    std::ranges::fill(field.cells(), 1.0);
  }
}

TEST(FieldTest, WhatAFieldTookIsGivenBack) {
  const auto resident_mebibytes = [] {
    std::ifstream statm("/proc/self/statm"); // in pages of 4 KiB
    std::int64_t all = 0;
    std::int64_t resident = 0;
    statm >> all >> resident;
    return resident / 256;
  };
  const std::int64_t before = resident_mebibytes();
  for (int round = 0; round < 12; ++round) {
    const Field<float> field(4096, 4096); // 64 MiB; a sanitizer keeps 256 of what is freed
  }
  EXPECT_LT(resident_mebibytes() - before, 512);
}

TEST(FieldTest, MovingHandsTheMemoryOver) {
  Field<double> first(5, 4);
  first.row(3)[4] = 2.5;
  const double* memory = first.row(0);
  const Field<double> second = std::move(first);
  EXPECT_EQ(second.row(0), memory);
  EXPECT_EQ(second.row(3)[4], 2.5);
}

TEST(FieldTest, MemoryThatCannotBeHadIsAnErrorThatNamesTheSize) {
  EXPECT_THAT(message_of<Error>([] { Field<double>(1'000'000'000, 1'000'000'000); }),
              testing::HasSubstr("8000000000000000000 bytes"));
}

} // namespace
} // namespace diffbench
