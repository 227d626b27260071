// SPDX-License-Identifier: Apache-2.0
// Errors of the CUDA runtime, typed, with code, expression and place.
#pragma once

#include "diffbench/errors.hpp"

#include <cuda_runtime.h>

namespace diffbench::gpu {

/// A line of the source. (Clang 14 has no std::source_location.)
struct Place {
  const char* file;
  int line;
};

/// A call of the CUDA runtime failed. Where no later call of the process can succeed, what() says
/// so, and what to do. Otherwise the runtime's error has been cleared.
class CudaError : public Error {
 public:
  CudaError(cudaError_t code, const char* expression, Place place);

  [[nodiscard]] cudaError_t code() const { return code_; }
  /// The call as it stands in the source.
  [[nodiscard]] const char* expression() const { return expression_; }

 private:
  cudaError_t code_;
  const char* expression_;
};

/// Throws CudaError unless `code` is cudaSuccess.
void check(cudaError_t code, const char* expression,
           Place place = {__builtin_FILE(), __builtin_LINE()});

/// For destructors: writes a line to stderr unless `code` is cudaSuccess; never throws. An error
/// that only repeats that the device is gone (sticky, or the runtime unloading at exit) is not
/// written.
void log_failure(cudaError_t code, const char* expression) noexcept;

} // namespace diffbench::gpu

/// Calls the runtime and throws gpu::CudaError when it fails.
#define DIFFBENCH_CUDA_CHECK(expression) ::diffbench::gpu::check((expression), #expression)
/// Calls the runtime in a destructor.
#define DIFFBENCH_CUDA_LOG(expression) ::diffbench::gpu::log_failure((expression), #expression)
