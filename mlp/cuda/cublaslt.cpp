// SPDX-License-Identifier: Apache-2.0
#include "cublaslt.hpp"

#include "diffbench/gpu/device.hpp"

#include <cstdio>
#include <string_view>

namespace diffbench::mlp::cuda {

namespace {

std::string describe(cublasStatus_t status, const char* expression, gpu::Place place) {
  std::string_view file = place.file;
  file.remove_prefix(file.rfind('/') + 1); // npos + 1 is 0
  return std::string("cuBLASLt: ") + expression +
         " failed: " + cublaslt().cublasLtGetStatusName(status) + " (" + std::string(file) + ":" +
         std::to_string(place.line) + ")";
}

} // namespace

Probe probe_cublaslt(int device) noexcept {
  Probe probe = gpu::probe_device(device);
  if (probe.available) {
    try {
      (void)cublaslt();
    } catch (const std::exception& error) {
      probe = {.available = false, .reason = error.what()};
    }
  }
  return probe;
}

// major * 10000 + minor * 100 + patch since cuBLAS 12 (cuBLAS library, cublasLtGetVersion).
std::string cublaslt_version() {
  const std::size_t version = cublaslt().cublasLtGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

CublasLtError::CublasLtError(cublasStatus_t status, const char* expression, gpu::Place place)
    : Error(describe(status, expression, place)), status_(status) {}

void check(cublasStatus_t status, const char* expression, gpu::Place place) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    (void)cudaGetLastError(); // what the library met may still stand in the runtime
    throw CublasLtError(status, expression, place);
  }
}

void log_failure(cublasStatus_t status, const char* expression) noexcept {
  if (status != CUBLAS_STATUS_SUCCESS) {
    std::fprintf(stderr, "cuBLASLt: %s failed: %s\n", expression,
                 cublaslt().cublasLtGetStatusName(status));
  }
}

void detail::destroy_handle(cublasLtHandle_t handle) noexcept {
  DIFFBENCH_CUBLASLT_LOG(cublasLtDestroy(handle));
}

CublasLtHandle make_cublaslt_handle() {
  cublasLtHandle_t handle = nullptr;
  DIFFBENCH_CUBLASLT_CHECK(cublasLtCreate(&handle));
  return CublasLtHandle(handle);
}

} // namespace diffbench::mlp::cuda
