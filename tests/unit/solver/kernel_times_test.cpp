// SPDX-License-Identifier: Apache-2.0
// What the row kernels' times are and where they are kept. That they are right, only a benchmark
// can tell.
#include "simd/kernel_times.hpp"

#include "diffbench/build_stamp.hpp"

#include "scratch.hpp"

#include <string>

#include <gtest/gtest.h>

namespace diffbench::simd {
namespace {

class KernelTimesTest : public ScratchTest {
 protected:
  [[nodiscard]] KnownTimes find() const {
    return find_kernel_times(baseline_kernels().float32, "baseline",
                             LineCache(directory() / "times"));
  }
  [[nodiscard]] std::string content() const { return content_of(directory() / "times"); }
  void replace(const std::string& old, const std::string& with) const {
    std::string text = content();
    ASSERT_NE(text.find(old), std::string::npos) << text;
    text.replace(text.find(old), old.size(), with);
    put("times", text);
  }
};

TEST_F(KernelTimesTest, AreMeasuredOnceAndKept) {
  const KnownTimes first = find();
  EXPECT_EQ(first.source, "measured");
  EXPECT_GT(first.times.vector_l1, 0);
  EXPECT_GE(first.times.vector_l2, first.times.vector_l1);
  EXPECT_GE(first.times.resident_vector, first.times.vector_l1);
  const KnownTimes second = find();
  EXPECT_EQ(second.source, "cached");
  EXPECT_NEAR(second.times.vector_l1, first.times.vector_l1, 1e-3 * first.times.vector_l1);
}

TEST_F(KernelTimesTest, OfAnotherBuildDoNotCount) {
  EXPECT_EQ(find().source, "measured");
  replace("build ", "build 1");
  EXPECT_EQ(find().source, "measured");
  EXPECT_EQ(find().source, "cached"); // and are replaced
}

// Two programs in turn must not take each other's times away.
TEST_F(KernelTimesTest, OfAnotherProgramStay) {
  EXPECT_EQ(find().source, "measured");
  std::string other = content();
  const std::size_t at = other.find(build_stamp());
  ASSERT_LT(at, other.find('\t')); // in the key
  other.replace(at, 1, "x");
  put("times", other);
  EXPECT_EQ(find().source, "measured");
  EXPECT_NE(content().find(other), std::string::npos);
  EXPECT_EQ(find().source, "cached");
}

// The first run chooses by the same numbers as all later ones.
TEST_F(KernelTimesTest, AreTheSameToTheLastBitInLaterRuns) {
  const KernelTimes measured = find().times;
  const KernelTimes cached = find().times;
  EXPECT_EQ(measured.vector_l1, cached.vector_l1);
  EXPECT_EQ(measured.call, cached.call);
  EXPECT_EQ(measured.clock_ghz, cached.clock_ghz);
}

TEST_F(KernelTimesTest, ThatNoKernelTakesDoNotCount) {
  for (const char* damage : {"\tno build ", "\tbuild nan ", "\t", "\tbuild 0 0 0 0 0 0 0 0 0 0 "}) {
    EXPECT_EQ(find().source, "measured") << damage;
    replace("\tbuild ", damage);
  }
  EXPECT_EQ(find().source, "measured");
  std::string text = content();
  const std::size_t last = text.find_last_of(' ');
  put("times", text.substr(0, last) + " 1e99\n");
  EXPECT_EQ(find().source, "measured");
}

TEST_F(KernelTimesTest, ThatCannotBeKeptSaySo) {
  std::filesystem::create_directory(directory() / "times");
  EXPECT_TRUE(find().source.starts_with("measured, not kept: ")) << find().source;
}

// As on Zen 5, where denormal numbers are cheap, and on Ice Lake.
TEST(KernelTimes, DecideWhetherRowsAreScaled) {
  EXPECT_FALSE((KernelTimes{.vector_l1 = 0.57, .front = 0.58, .hasty = 0.55, .careful = 1.1}
                    .scaled_is_quicker()));
  EXPECT_TRUE((KernelTimes{.vector_l1 = 1.6, .front = 45, .hasty = 1.6, .careful = 2.3}
                   .scaled_is_quicker()));
}

} // namespace
} // namespace diffbench::simd
