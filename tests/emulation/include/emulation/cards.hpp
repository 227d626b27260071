// SPDX-License-Identifier: Apache-2.0
// What cards of a compute capability allow, as devices to emulate.
#pragma once

#include <emulation/control.hpp>

#include <array>
#include <stdexcept>
#include <string>

namespace diffbench::emulation {

/// The limits of a compute capability, 75 for 7.5: CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability". Its number of multiprocessors and its memory stay small.
[[nodiscard]] inline DeviceSpec card(int capability) {
  struct Limits {
    int capability;
    int threads, blocks;           // of a multiprocessor
    int shared_kib, per_block_kib; // of a multiprocessor, and of a block that asks for it
  };
  constexpr std::array<Limits, 7> known{{{75, 1024, 16, 64, 64},
                                         {80, 2048, 32, 164, 163},
                                         {86, 1536, 16, 100, 99},
                                         {89, 1536, 24, 100, 99},
                                         {90, 2048, 32, 228, 227},
                                         {100, 2048, 32, 228, 227},
                                         {120, 1536, 24, 100, 99}}};
  for (const Limits& limits : known) {
    if (limits.capability == capability) {
      DeviceSpec spec;
      spec.compute_major = capability / 10;
      spec.compute_minor = capability % 10;
      spec.threads_per_multiprocessor = limits.threads;
      spec.blocks_per_multiprocessor = limits.blocks;
      spec.shared_bytes_per_multiprocessor = static_cast<std::size_t>(limits.shared_kib) << 10;
      spec.shared_bytes_per_block_optin = static_cast<std::size_t>(limits.per_block_kib) << 10;
      spec.reserved_shared_bytes = capability < 80 ? 0 : 1024;
      spec.cluster_launch = capability >= 90;
      return spec;
    }
  }
  throw std::invalid_argument("no such card: " + std::to_string(capability));
}

} // namespace diffbench::emulation
