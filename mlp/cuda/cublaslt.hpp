// SPDX-License-Identifier: Apache-2.0
// The part of cuBLASLt in use: a library that is loaded when an engine first wants it, so that the
// program starts without one; its errors, typed; its handle, owned.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/execution.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/gpu/owner.hpp"

#include <cublasLt.h>

#include <string>

// Every function in use.
#define DIFFBENCH_CUBLASLT_FUNCTIONS(X)   \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtGetVersion)                   \
  X(cublasLtGetStatusName)                \
  X(cublasLtMatmul)                       \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)

namespace diffbench::mlp::cuda {

/// The functions by their own names.
struct CublasLt {
#define DIFFBENCH_MEMBER(name) decltype(&::name) name;
  DIFFBENCH_CUBLASLT_FUNCTIONS(DIFFBENCH_MEMBER)
#undef DIFFBENCH_MEMBER
};

/// The library, loaded at the first call. Throws Unavailable, with the loader's words.
[[nodiscard]] const CublasLt& cublaslt();

/// Whether there is a device of that index and the library. Never throws.
[[nodiscard]] Probe probe_cublaslt(int device) noexcept;

/// "13.0.2".
[[nodiscard]] std::string cublaslt_version();

/// A call of cuBLASLt failed.
class CublasLtError : public Error {
 public:
  CublasLtError(cublasStatus_t status, const char* expression, gpu::Place place);
  [[nodiscard]] cublasStatus_t status() const { return status_; }

 private:
  cublasStatus_t status_;
};

/// Throws CublasLtError unless `status` is CUBLAS_STATUS_SUCCESS.
void check(cublasStatus_t status, const char* expression,
           gpu::Place place = {__builtin_FILE(), __builtin_LINE()});
/// For destructors: writes a line to stderr; never throws.
void log_failure(cublasStatus_t status, const char* expression) noexcept;

namespace detail {
void destroy_handle(cublasLtHandle_t handle) noexcept;
} // namespace detail

using CublasLtHandle = gpu::Owner<cublasLtHandle_t, detail::destroy_handle>;
/// On the current device.
[[nodiscard]] CublasLtHandle make_cublaslt_handle();

} // namespace diffbench::mlp::cuda

/// Calls a function of the library: DIFFBENCH_CUBLASLT_CHECK(cublasLtCreate(&handle)).
#define DIFFBENCH_CUBLASLT_CHECK(call) \
  ::diffbench::mlp::cuda::check(::diffbench::mlp::cuda::cublaslt().call, #call)
/// The same in a destructor.
#define DIFFBENCH_CUBLASLT_LOG(call) \
  ::diffbench::mlp::cuda::log_failure(::diffbench::mlp::cuda::cublaslt().call, #call)
