// SPDX-License-Identifier: Apache-2.0
// The host's own copy curve: from the first level of cache out to memory.
#pragma once

#include "copy_rounds.hpp"
#include "progress.hpp"
#include "transfer_result.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace diffbench::bench {

/// Measures memcpy and non-temporal stores on one thread and on `threads`, and a plain loop on one,
/// each between two arrays of each of `sizes` (bytes, ascending, multiples of a cache line), in
/// rounds that interleave them. What each copied is compared, byte for byte, before it is timed.
/// Sizes for which there is no `time` are left out. Ends early, with
/// what it has, when `stop()` says so. Throws Error (memory, threads, a copy that went wrong).
[[nodiscard]] HostCopies measure_host_copies(const std::vector<std::int64_t>& sizes, int threads,
                                             CopyTime time, const std::function<bool()>& stop,
                                             Progress& progress);

} // namespace diffbench::bench
