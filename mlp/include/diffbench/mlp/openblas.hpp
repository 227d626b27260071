// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, of which the program needs nothing until an engine wants its products.
#pragma once

#include "diffbench/execution.hpp"

namespace diffbench::mlp {

/// The functions of the library that are in use. Numbers that say how are those of its cblas.h.
struct OpenBlas {
  template <typename T>
  using Gemm = void (*)(int order, int transpose_a, int transpose_b, int rows, int columns,
                        int depth, T alpha, const T* a, int a_row, const T* b, int b_row, T beta,
                        T* c, int c_row);
  static constexpr int row_major = 101, as_it_lies = 111, transposed = 112;

  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_num_threads)(int threads) = nullptr; ///< of the whole process
  char* (*get_config)() = nullptr;
};

/// Loads the library at the first call. Throws Unavailable, with the reason, where it is not there
/// or has no room: at its start it takes address space and threads for each CPU, and where it gets
/// none (ulimit -v, a limit of processes) it spins for ever or ends the program.
[[nodiscard]] const OpenBlas& openblas();

/// Whether openblas() would throw. Loads it.
[[nodiscard]] Probe probe_openblas(int device) noexcept;

} // namespace diffbench::mlp
