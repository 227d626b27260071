// SPDX-License-Identifier: Apache-2.0
#include "simd/core_bound.hpp"

#include <gmock/gmock.h>

namespace diffbench::simd {
namespace {

using testing::HasSubstr;

TEST(CoreBound, IsThatOfTheBusiestPorts) {
  // Two pipes add, two others multiply, and one addition is fused; Zen 4 takes a wide vector in
  // halves.
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x01}, Isa::avx2).cycles, 1.5);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x11}, Isa::avx512).cycles, 3);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x1a, 0x02}, Isa::avx512).cycles, 1.5);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x01}, Isa::baseline).cycles, 2.5);
  // All arithmetic shares two ports.
  EXPECT_EQ(core_bound({"GenuineIntel", 6, 0x55}, Isa::avx512).cycles, 3);
  EXPECT_EQ(core_bound({"GenuineIntel", 6, 0x8f}, Isa::avx2).cycles, 2);
}

TEST(CoreBound, OfArmCoresHasFusedOperationsAndTheStoresData) {
  const VectorWork neon = vector_work({"0x41", 0, 0xd0c}, Isa::baseline, Pipes::plain);
  EXPECT_EQ(neon.adds + neon.multiplies, 6);
  const VectorWork sse2 = vector_work({"GenuineIntel", 6, 0x55}, Isa::baseline, Pipes::plain);
  EXPECT_EQ(sse2.adds + sse2.multiplies, 7);
  for (const int two_pipes : {0xd0b, 0xd0c, 0xd49}) {
    EXPECT_EQ(core_bound({"0x41", 0, two_pipes}, Isa::baseline).cycles, 3.5);
  }
  for (const int four_pipes : {0xd40, 0xd4f}) {
    EXPECT_EQ(core_bound({"0x41", 0, four_pipes}, Isa::baseline).cycles, 1.75);
  }
  EXPECT_EQ(core_bound({"0x41", 0, 0xd0b}, Isa::baseline).core, "Cortex-A76");
  EXPECT_EQ(core_bound({"0x61", 0, 0xd0b}, Isa::baseline).cycles, 0); // Apple's
}

TEST(CoreBound, OfAnotherCoreIsUnknown) {
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x15, 0x02}, Isa::baseline).cycles, 0);
  EXPECT_EQ(core_bound({"AuthenticAMD", 0x19, 0x01}, Isa::avx512).core, "unknown core");
  EXPECT_EQ(core_bound({}, Isa::baseline).core, "unknown core");
}

TEST(CoreBound, IsSaidBesideWhatIsReached) {
  const KernelTimes times{.vector_l1 = 0.625, .clock_ghz = 4};
  EXPECT_EQ(in_core({"Zen 5", 2}, vector_work({}, Isa::avx512, Pipes::plain), times),
            "a vector: 4 additions, 2 multiplications, 1.5 loads, 1 store; 2.50 cycles in L1 at "
            "4.00 GHz, 80 % of the bound of 2.00 by the ports of Zen 5");
  const VectorWork fused = vector_work({}, Isa::avx512, Pipes::fused);
  EXPECT_THAT(in_core({"Zen 5", 3}, fused, times), HasSubstr("3 additions, 3 mult"));
  EXPECT_THAT(in_core({"Zen 5", 3}, fused, times), HasSubstr("100 % of the bound of 3.00"));
  EXPECT_THAT(in_core({}, vector_work({}, Isa::baseline, Pipes::plain), times),
              HasSubstr("4.00 GHz; unknown core: no bound"));
}

} // namespace
} // namespace diffbench::simd
