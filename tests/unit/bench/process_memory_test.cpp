#include "process_memory.hpp"

#include "diffbench/errors.hpp"
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
  EXPECT_GE(*rise, 64 * mebibyte);
  EXPECT_LT(*rise, 96 * mebibyte);
}

TEST(ProcessMemory, AColdRunStartsWithNothingKept) {
  start_from_fresh_memory(160 * mebibyte);
  MemoryWatch watch;
  watch.begin();
  const auto rise = watch.rise(); // of nothing
  if (!rise) {
    GTEST_SKIP() << "the system does not let the peak be set back";
  }
  EXPECT_LT(*rise, 8 * mebibyte);
  EXPECT_GE(watch.process_peak().value_or(0), 160 * mebibyte); // it was touched
}

TEST(ProcessMemory, MoreThanThereIsSaysSo) {
  EXPECT_THROW(start_from_fresh_memory(std::int64_t{1} << 60), Error);
}

} // namespace
} // namespace diffbench::bench
