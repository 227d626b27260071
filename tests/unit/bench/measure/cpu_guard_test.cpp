// SPDX-License-Identifier: Apache-2.0
// The start-up check of the instruction set, as far as this CPU lets it be seen.
#include "cpu_guard.hpp"

#include "context.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace diffbench::bench {
namespace {

using ::testing::HasSubstr;

TEST(CpuGuard, AcceptsThisCpu) { EXPECT_EQ(build_cpu_mismatch(), nullptr); }

TEST(CpuGuard, KnowsWhatTheCompilerMayUse) {
#if defined(__AVX2__)
  EXPECT_NE(std::ranges::count(compiled_for, true), 0);
#elif !defined(__SSE3__)
  EXPECT_EQ(std::ranges::count(compiled_for, true), 0);
#endif
}

TEST(CpuGuard, NamesTheFirstExtensionThatIsMissing) {
  std::array<bool, isa_extension_count> compiled{};
  std::array<bool, isa_extension_count> cpu{};
  compiled[0] = cpu[0] = true;
  cpu[1] = true; // more than needed is fine
  EXPECT_EQ(describe_mismatch(compiled.data(), cpu.data()), nullptr);
  compiled[3] = true; // the fourth of the list
  EXPECT_THAT(describe_mismatch(compiled.data(), cpu.data()), HasSubstr("CPU with sse4.2, which"));
}

} // namespace
} // namespace diffbench::bench
