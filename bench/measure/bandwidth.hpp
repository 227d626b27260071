// SPDX-License-Identifier: Apache-2.0
// The copy roof: what the machine moves when it does nothing but copy.
#pragma once

#include "result.hpp"

#include <cstdint>

namespace diffbench::bench {

/// Copies between two arrays of `array_bytes` each with `threads` threads, by memcpy and by
/// non-temporal stores (which spare the read of the destination's cache lines), and returns the
/// best of several repetitions of each, read plus written bytes counted, as STREAM does for its
/// copy (McCalpin 1995). Takes about `seconds`, and three copies of each kind at least. Throws
/// Error when the memory cannot be had.
[[nodiscard]] CopyBandwidth measure_copy_bandwidth(std::int64_t array_bytes, int threads,
                                                   double seconds);

/// Two arrays of this size leave the last-level cache: twice its size, within 32 and 128 MiB.
[[nodiscard]] std::int64_t copy_array_bytes();

} // namespace diffbench::bench
