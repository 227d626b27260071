// SPDX-License-Identifier: Apache-2.0
// How the simd backend cuts a problem up: threads, time steps a sweep, width of a strip.
#pragma once

#include "diffbench/machine.hpp"
#include "diffbench/problem.hpp"
#include "simd/kernel_times.hpp"

#include <cstdint>

namespace diffbench::simd {

struct Plan {
  int threads = 1;              ///< each has a band of rows
  std::int64_t depth = 1;       ///< time steps in one sweep over the field
  std::int64_t strips = 1;      ///< a band is swept strip by strip
  std::int64_t strip_width = 0; ///< columns of a strip; the last one may be narrower
  std::int64_t halo = 0; ///< redundant columns on a strip's inner sides, >= depth; 0: 1 strip
  /// The whole field stays in strides in the cache, in two copies, and nothing is computed twice
  /// (Resident); else it is swept by bands (Band). One thread.
  bool resident = false;
};

/// The plan for vectors of `lanes` cells whose kernels take `times`: of all plans that fit into the
/// caches the quickest by a model of these times. threads > 0 is honoured, up to one for two rows;
/// threads = 0 uses as many of usable_cpus as each bring, by the model, at least half of what they
/// could.
[[nodiscard]] Plan choose_plan(const Problem& problem, int threads, int usable_cpus,
                               std::int64_t lanes, const Caches& caches, const KernelTimes& times);

/// What a plan takes, in bytes: the field, and what its bands keep beside it.
[[nodiscard]] std::int64_t memory_bytes(const Problem& problem, const Plan& plan,
                                        std::int64_t lanes);

/// What the model says of a plan, in nanoseconds a time step.
[[nodiscard]] double step_ns(const Problem& problem, const Plan& plan, std::int64_t lanes,
                             const Caches& caches, const KernelTimes& times);

} // namespace diffbench::simd
