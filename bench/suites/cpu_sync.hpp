// SPDX-License-Identifier: Apache-2.0
// How threads of a CPU meet: barriers, and starting and ending a piece of parallel work.
#pragma once

#include "operation.hpp"

#include <span>
#include <string_view>

namespace diffbench::bench {

struct CpuSync {
  std::string_view name;
  /// For that many threads. Throws WrongResult for a barrier that lets a thread pass too early.
  Operation (*make)(int threads);
};

/// Barriers: team_barrier (that of the `simd` backend's threads), std_barrier, openmp_barrier.
/// Fork and join of an empty job: team_run (threads that sleep or spin between jobs),
/// openmp_region, thread_start (threads made and joined each time).
[[nodiscard]] std::span<const CpuSync> cpu_syncs();

} // namespace diffbench::bench
