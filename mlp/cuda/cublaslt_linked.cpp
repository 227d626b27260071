// SPDX-License-Identifier: Apache-2.0
// cuBLASLt from the program itself: the emulated one.
#include "cublaslt.hpp"

namespace diffbench::mlp::cuda {

const CublasLt& cublaslt() {
#define DIFFBENCH_TAKE(name) .name = ::name,
  static constexpr CublasLt functions = {DIFFBENCH_CUBLASLT_FUNCTIONS(DIFFBENCH_TAKE)};
#undef DIFFBENCH_TAKE
  return functions;
}

} // namespace diffbench::mlp::cuda
