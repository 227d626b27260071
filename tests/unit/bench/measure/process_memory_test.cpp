// SPDX-License-Identifier: Apache-2.0
#include "process_memory.hpp"

#include "diffbench/field.hpp"

#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace diffbench::bench {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

TEST(ProcessMemory, APeakRisesByWhatWasTouched) {
  MemoryWatch watch;
  watch.begin();
  { const AlignedArray<char> memory(64 * mebibyte); }
  const auto rise = watch.rise();
  if (!rise) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  EXPECT_GT(*rise, 60 * mebibyte); // the system counts in batches of pages
  EXPECT_LT(*rise, 96 * mebibyte);
}

std::int64_t resident() {
  std::ifstream statm("/proc/self/statm"); // in pages
  std::int64_t all = 0;
  std::int64_t pages = 0;
  statm >> all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(ProcessMemory, ThatForAColdRunIsTouched) {
  MemoryWatch watch;
  watch.begin();
  start_from_fresh_memory(160 * mebibyte);
  const auto rise = watch.rise();
  if (!rise) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  EXPECT_GT(*rise, 150 * mebibyte);
}

TEST(ProcessMemory, ThatForAColdRunIsGivenBack) {
  const std::int64_t before = resident();
  for (int run = 0; run < 4; ++run) {
    start_from_fresh_memory(160 * mebibyte);
  }
  EXPECT_LT(resident() - before, 64 * mebibyte);
}

TEST(ProcessMemory, ThatForAColdRunIsInNoPeak) {
  MemoryWatch().begin(); // what other tests touched is forgotten
  MemoryWatch watch;
  watch.begin();
  if (!watch.rise()) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  watch.start_from_fresh(160 * mebibyte);
  EXPECT_LT(*watch.process_peak() - resident(), 80 * mebibyte);
}

} // namespace
} // namespace diffbench::bench
