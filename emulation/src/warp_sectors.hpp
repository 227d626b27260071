// SPDX-License-Identifier: Apache-2.0
// The sectors of global memory that a block's warps move: each time a warp executes a load or a
// store, those that its lanes touch (CUDA C++ Best Practices Guide, "Coalesced Access to Global
// Memory"). Lanes run one after the other here, so those are taken together that execute the same
// instruction for the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diffbench::emulation {

inline constexpr std::size_t sector_bytes = 32;

class WarpSectors {
 public:
  /// `thread`: its rank in the block. `site`: of the instruction.
  void note(std::size_t thread, std::uint64_t site, std::uintptr_t address, std::size_t bytes,
            bool writes);
  /// Bytes of the sectors moved, by loads and by stores.
  [[nodiscard]] std::array<std::int64_t, 2> moved() const;

 private:
  struct Instruction {
    std::uint64_t site;
    bool writes;
    std::array<std::uint32_t, 32> times{};               ///< by lane
    std::vector<std::vector<std::uintptr_t>> executions; ///< sectors of each
  };
  std::vector<std::vector<Instruction>> warps_;
};

} // namespace diffbench::emulation
