#include "process_memory.hpp"

#include "diffbench/field.hpp"

#include <cstdint>

#include <gtest/gtest.h>

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

TEST(ProcessMemory, ThatForAColdRunIsTouchedAndGivenBack) {
  MemoryWatch watch;
  watch.begin();
  start_from_fresh_memory(160 * mebibyte);
  const auto rise = watch.rise();
  watch.begin();
  const auto after = watch.rise();
  if (!rise || !after) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  EXPECT_GT(*rise, 150 * mebibyte);
  EXPECT_LT(*after, 8 * mebibyte);
}

TEST(ProcessMemory, ThatForAColdRunIsInNoPeak) {
  MemoryWatch watch;
  watch.begin();
  if (!watch.rise()) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  const std::int64_t before = watch.process_peak().value_or(0);
  watch.start_from_fresh(160 * mebibyte);
  EXPECT_LT(watch.process_peak().value_or(0) - before, 80 * mebibyte);
  EXPECT_LT(*watch.rise(), 80 * mebibyte);
}

} // namespace
} // namespace diffbench::bench
