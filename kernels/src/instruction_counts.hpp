// SPDX-License-Identifier: Apache-2.0
// What a thread of the kernels executes, counted in nvcc's machine code for sm_90: what the model
// of tile_plan.cpp goes by, and a budget. Written, and checked against the kernels, by
// tests/gpu/kernel_instructions.py (target kernel_instructions_update).
#pragma once

namespace diffbench::kernels {

/// Instructions of a thread. Accesses of 16 bytes: the way of all patches that lie inside the grid.
struct InstructionCounts {
  int step;  ///< a time step of the patch; of cuda_streamed a row through all levels, with its
             ///< access
  int load;  ///< before the first step; persistent: an exchange, where the halo is loaded
  int store; ///< after the last step; persistent: what is added where the ring is stored, too
};

inline constexpr InstructionCounts blocked_float = {111, 158, 45};
inline constexpr InstructionCounts blocked_double = {71, 154, 47};
inline constexpr InstructionCounts persistent_float = {111, 89, 15};
inline constexpr InstructionCounts persistent_double = {71, 86, 15};
inline constexpr InstructionCounts numbered_float = {113, 81, 34};
inline constexpr InstructionCounts numbered_double = {74, 78, 33};
inline constexpr InstructionCounts streamed_float = {440, 0, 0};
inline constexpr InstructionCounts streamed_double = {263, 0, 0};
inline constexpr InstructionCounts swapped_float = {456, 0, 0};
inline constexpr InstructionCounts swapped_double = {285, 0, 0};

} // namespace diffbench::kernels
