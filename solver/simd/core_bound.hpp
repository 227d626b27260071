// SPDX-License-Identifier: Apache-2.0
// What the row kernel could do at best on this core: the bound by its execution ports.
#pragma once

#include "diffbench/machine.hpp"
#include "simd/kernel_times.hpp"

#include <string>

namespace diffbench::simd {

/// What the kernel asks for a vector of cells, once its rows are in registers.
struct VectorWork {
  double adds;
  double multiplies; ///< fused ones too
  double loads;
  double stores;
};
[[nodiscard]] VectorWork vector_work(const CpuNumbers& cpu, Isa isa, Pipes pipes);

struct CoreBound {
  std::string core = "unknown core";
  double cycles = 0; ///< a vector takes at least; 0 when the core is unknown
};

/// For cores whose ports are published: Zen 2 to 5, Skylake to Granite Rapids, Cortex-A76, Neoverse
/// N1 to V2. Of whichever form of the kernel is the quicker: with fused operations an addition runs
/// in either pipe.
[[nodiscard]] CoreBound core_bound(const CpuNumbers& cpu, Isa isa);

/// The kernel's work, the bound, and what of it is reached, as a person reads it.
[[nodiscard]] std::string in_core(const CoreBound& bound, const VectorWork& work,
                                  const KernelTimes& times);

} // namespace diffbench::simd
