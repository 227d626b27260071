// SPDX-License-Identifier: Apache-2.0
// What a time step asks of a card for each cell: the program's own kernels, or a code that is not
// ours. Arithmetic only.
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>

namespace diffbench::bench {

struct CellWork {
  Dtype dtype = Dtype::float32;
  double bytes = 0;           ///< read and written by a step, and what its arrays take in memory
  double copied_bytes = 0;    ///< of a copy of the field to the card or back
  double arithmetic = 0;      ///< instructions in the dtype; an fma is one
  Assumption instructions;    ///< all of a step
  std::int64_t per_sweep = 1; ///< steps of one launch in the way that takes several; 1: no such way
};
/// Of per_sweep: no kernel of the program goes deeper (kernels/src/tile_plan.cpp). Beyond 20 steps
/// halos are most of a strip in float64.
inline constexpr std::int64_t most_per_sweep = 20;

/// The stencil. From large fields to small tiles its kernels have 7.2 to 25 instructions, 6 of them
/// arithmetic; `cuda` takes 8 steps a launch.
[[nodiscard]] inline CellWork stencil_work(Dtype dtype) {
  const double element = dtype == Dtype::float32 ? 4 : 8;
  return {.dtype = dtype,
          .bytes = 2 * element,
          .copied_bytes = element,
          .arithmetic = 6,
          .instructions = {7.2, 25},
          .per_sweep = 8};
}

/// A code that moves so many bytes and has so many operations a cell and step. Half of the bytes
/// are the field that a copy moves, as they are read and written once; for each operation it has as
/// many instructions as the stencil has for one of its 7 (Problem::flops_per_step()).
[[nodiscard]] inline CellWork work_of(Dtype dtype, double bytes, double operations,
                                      std::int64_t per_sweep) {
  CellWork work = stencil_work(dtype);
  const double times = operations / 7;
  work.bytes = bytes;
  work.copied_bytes = bytes / 2;
  work.arithmetic *= times;
  work.instructions = {work.instructions.low * times, work.instructions.high * times};
  work.per_sweep = per_sweep;
  return work;
}

} // namespace diffbench::bench
