// SPDX-License-Identifier: Apache-2.0
// What code of somebody else's may do in its process: compute, read, and answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace diffbench::tried {

struct Limits {
  std::uint64_t memory_bytes = 0; ///< of address space
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = 0; ///< of what it prints, too
  bool alone = false;           ///< it sees no process of others (a PID namespace of its own)
};

/// Confines this process, its threads, and what it becomes by exec, for good. A process of root's
/// becomes nobody's. Returns what could not be had, in words; throws nothing.
[[nodiscard]] std::vector<std::string> confine(const Limits& limits);

} // namespace diffbench::tried
