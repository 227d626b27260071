// SPDX-License-Identifier: Apache-2.0
#include "simd/core_bound.hpp"

#include "simd/row_kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace diffbench::simd {

namespace {

// Vectors a cycle. The same pipe may add and multiply: `both` is how many there are.
struct Ports {
  double add;
  double multiply;
  double both;
  double load;
  double store;
  double store_share = 0; ///< of those pipes, that a store takes for its data
};

// The ports for each width of vectors that a core has. From the makers' optimisation guides (of
// Arm: "Software Optimization Guide" of each core, the tables of ASIMD floating point and of loads
// and stores) and from Agner Fog, "The microarchitecture of Intel, AMD and VIA CPUs".
struct Core {
  const char* name;
  const char* vendor;
  int family;
  int first_model;
  int last_model;
  Ports narrow; ///< 128 and 256 bits; on Arm 128
  Ports wide;   ///< 512 bits; all 0: none
};

constexpr Ports none{};
constexpr Ports zen{2, 2, 4, 2, 1};
constexpr Ports zen_halves{1, 1, 2, 1, 0.5};
constexpr Ports skylake{2, 2, 2, 2, 1};
constexpr Ports golden_cove{2, 2, 3, 3, 2};
constexpr Ports two_pipes{2, 2, 2, 2, 1, 1};
constexpr Ports four_pipes{4, 4, 4, 3, 2, 1};

constexpr const char* amd = "AuthenticAMD";
constexpr const char* intel = "GenuineIntel";
constexpr const char* arm = "0x41";

constexpr Core cores[] = {
    {"Zen 2", amd, 0x17, 0x30, 0xff, zen, none},
    {"Zen 3", amd, 0x19, 0x00, 0x0f, zen, none},
    {"Zen 3", amd, 0x19, 0x20, 0x5f, zen, none},
    {"Zen 4", amd, 0x19, 0x10, 0x1f, zen, zen_halves},
    {"Zen 4", amd, 0x19, 0x60, 0xaf, zen, zen_halves},
    {"Zen 5", amd, 0x1a, 0x00, 0x1f, zen, zen},
    {"Zen 5 with 256-bit units", amd, 0x1a, 0x20, 0x3f, zen, zen_halves},
    {"Zen 5", amd, 0x1a, 0x40, 0x4f, zen, zen},
    {"Skylake", intel, 6, 0x4e, 0x4e, skylake, none},
    {"Skylake", intel, 6, 0x5e, 0x5e, skylake, none},
    {"Skylake", intel, 6, 0x8e, 0x8e, skylake, none},
    {"Skylake", intel, 6, 0x9e, 0x9e, skylake, none},
    {"Skylake with AVX-512", intel, 6, 0x55, 0x55, skylake, skylake},
    {"Ice Lake server", intel, 6, 0x6a, 0x6c, skylake, skylake},
    {"Sapphire Rapids", intel, 6, 0x8f, 0x8f, golden_cove, skylake},
    {"Emerald Rapids", intel, 6, 0xcf, 0xcf, golden_cove, skylake},
    {"Granite Rapids", intel, 6, 0xad, 0xae, golden_cove, skylake},
    {"Cortex-A76", arm, 0, 0xd0b, 0xd0b, two_pipes, none},
    {"Neoverse N1", arm, 0, 0xd0c, 0xd0c, two_pipes, none},
    {"Neoverse N2", arm, 0, 0xd49, 0xd49, two_pipes, none},
    {"Neoverse V1", arm, 0, 0xd40, 0xd40, four_pipes, none},
    {"Neoverse V2", arm, 0, 0xd4f, 0xd4f, four_pipes, none},
};

} // namespace

// ((above + below) + west) + east, less 4 centre, times the factor, plus centre. Without fused
// operations, which of all vectors SSE2's lack, the product and the difference are two.
VectorWork vector_work(const CpuNumbers& cpu, Isa isa, Pipes pipes) {
  const bool is_arm = cpu.vendor.starts_with("0x");
  const double fused = pipes == Pipes::fused ? 1 : 0;
  return {.adds = (isa == Isa::baseline && !is_arm ? 5.0 : 4.0) - fused,
          .multiplies = 2 + fused,
          .loads = (block_rows + 2.0) / block_rows,
          .stores = 1};
}

CoreBound core_bound(const CpuNumbers& cpu, Isa isa) {
  for (const Core& core : cores) {
    const Ports& ports = isa == Isa::avx512 ? core.wide : core.narrow;
    if (cpu.vendor == core.vendor && cpu.family == core.family && cpu.model >= core.first_model &&
        cpu.model <= core.last_model && ports.both > 0) {
      double least = std::numeric_limits<double>::infinity();
      for (const Pipes pipes : {Pipes::plain, isa == Isa::baseline ? Pipes::plain : Pipes::fused}) {
        const VectorWork work = vector_work(cpu, isa, pipes);
        const double in_pipes = work.adds + work.multiplies + work.stores * ports.store_share;
        least = std::min(least, std::max({work.adds / ports.add, work.multiplies / ports.multiply,
                                          in_pipes / ports.both, work.loads / ports.load,
                                          work.stores / ports.store}));
      }
      return {core.name, least};
    }
  }
  return {};
}

std::string in_core(const CoreBound& bound, const VectorWork& work, const KernelTimes& times) {
  const double cycles = times.vector_l1 * times.clock_ghz;
  char text[200];
  int length = std::snprintf(
      text, sizeof text,
      "a vector: %g additions, %g multiplications, %g loads, %g store; %.2f cycles in "
      "L1 at %.2f GHz",
      work.adds, work.multiplies, work.loads, work.stores, cycles, times.clock_ghz);
  std::string all(text, static_cast<std::size_t>(length));
  if (bound.cycles > 0 && cycles > 0) {
    length =
        std::snprintf(text, sizeof text, ", %.0f %% of the bound of %.2f by the ports of %s",
                      100 * std::min(1.0, bound.cycles / cycles), bound.cycles, bound.core.c_str());
    return all + std::string(text, static_cast<std::size_t>(length));
  }
  return all + "; " + bound.core + ": no bound";
}

} // namespace diffbench::simd
