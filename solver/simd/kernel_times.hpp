// What the row kernels take on this CPU: the constants of the model that plans the simd backend.
#pragma once

#include "diffbench/line_cache.hpp"
#include "simd/row_kernel.hpp"

#include <string>
#include <string_view>

namespace diffbench::simd {

/// Nanoseconds. Where nothing is measured: of a Zen 3 with AVX2.
struct KernelTimes {
  double vector_l1 = 0.7; ///< a vector of a row, one step, with all rows in L1
  double vector_l2 = 0.9; ///< the same with half of the rows in L2, as in a sweep
  double vector_far = 1;  ///< the same with all rows there
  double call = 20;       ///< a call for block_rows rows, besides its vectors
  double copy = 2;        ///< a vector there and back between natural order and strides
  double row = 30;        ///< a row there and back, besides its vectors
};

/// How they were had: "measured", "cached"; with a reason after it when they could not be kept.
struct KnownTimes {
  KernelTimes times;
  std::string source;
};

/// Runs the kernels for some 5 ms, on the calling thread. The lowest of several times count.
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
