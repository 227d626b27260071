// SPDX-License-Identifier: Apache-2.0
#include "simd/core_bound.hpp"

#include <gmock/gmock.h>

namespace diffbench::simd {
namespace {

using testing::HasSubstr;

TEST(CoreBound, IsThatOfTheBusiestPorts) {
  // Additions run on two of four pipes; Zen 4 takes a wide vector in two halves.
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x01}, Isa::avx2).cycles, 2);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x11}, Isa::avx512).cycles, 4);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x1a, 0x02}, Isa::avx512).cycles, 2);
  // All arithmetic shares two ports.
  EXPECT_EQ(core_bound({"GenuineIntel", 6, 0x55}, Isa::avx512).cycles, 3);
  EXPECT_EQ(core_bound({"GenuineIntel", 6, 0x8f}, Isa::avx2).cycles, 2);
  EXPECT_EQ(core_bound({"0x41", 0, 0xd0c}, Isa::baseline).cycles, 3.5);
}

TEST(CoreBound, OfAnotherCoreIsUnknown) {
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x15, 0x02}, Isa::baseline).cycles, 0);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x01}, Isa::avx512).core, "unknown core");
  EXPECT_EQ(core_bound({}, Isa::baseline).core, "unknown core");
}

TEST(CoreBound, IsSaidBesideWhatIsReached) {
  const KernelTimes times{.vector_l1 = 0.625, .clock_ghz = 4};
  EXPECT_EQ(in_core({"Zen 5", 2}, Isa::avx512, times),
            "a vector: 4 additions, 2 multiplications, 1.5 loads, 1 store; 2.50 cycles in L1 at "
            "4.00 GHz, 80 % of the bound of 2.00 by the ports of Zen 5");
  EXPECT_THAT(in_core({}, Isa::baseline, times), HasSubstr("4.00 GHz; unknown core: no bound"));
}

} // namespace
} // namespace diffbench::simd
