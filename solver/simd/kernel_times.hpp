// SPDX-License-Identifier: Apache-2.0
// What the row kernels take on this CPU: the constants of the model that plans the simd backend.
#pragma once

#include "diffbench/line_cache.hpp"
#include "simd/row_kernel.hpp"

#include <string>
#include <string_view>

namespace diffbench::simd {

/// Nanoseconds but for the clock. Where nothing is measured: of a Zen 3 with AVX2.
struct KernelTimes {
  // Of a sweep (Band).
  double call = 25;       ///< block_rows rows of a level, besides their vectors
  double vector_l1 = 0.7; ///< a vector of a row, one step, with all rows in L1: the kernel alone
  double vector_l2 = 0.8; ///< the same with the rows of other levels in L2
  double row = 30;        ///< a row there and back between natural order and strides, ...
  double copy = 2;        ///< ... and each of its vectors
  // Of a field that stays in the cache (Resident). In L1 a vector takes vector_l1.
  double resident_call = 15;
  double resident_vector = 1; ///< with all rows in L2
  double clock_ghz = 3;       ///< of the core meanwhile
  // A vector of a row, one step, in L1: of rows with a front, where each vector holds denormal
  // numbers; of scaled rows (underflow.hpp), by either kernel.
  double front = 0.7;
  double hasty = 0.7;
  double careful = 1.4;
  /// Whether rows are better held scaled, where half of them are at a front: by more than what the
  /// measurements of a busy machine are off by. Where it matters it is a factor.
  [[nodiscard]] bool scaled_is_quicker() const {
    return 1.1 * (hasty + careful) < vector_l1 + front;
  }
};

/// How they were had: "measured", "cached"; with a reason after it when they could not be kept.
struct KnownTimes {
  KernelTimes times;
  std::string source;
};

/// From small fields that are advanced for some 5 ms, on the calling thread; of several times the
/// lowest counts.
template <typename T>
[[nodiscard]] KernelTimes measure_kernel_times(const RowKernels<T>& kernels);

/// From the cache, where they are kept for a CPU model, an instruction set (`name`) and a cell
/// type; measured, and kept there, when it has none of this build. A cache that is corrupt or
/// cannot be written is as good as none: `source` says so.
template <typename T>
[[nodiscard]] KnownTimes find_kernel_times(const RowKernels<T>& kernels, std::string_view name,
                                           const LineCache& cache);

/// The same, from the cache directory, asked once a process. Any thread may call it.
template <typename T>
[[nodiscard]] const KnownTimes& known_times(const RowKernels<T>& kernels, std::string_view name);

} // namespace diffbench::simd
