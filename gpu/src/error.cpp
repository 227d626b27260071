#include "diffbench/gpu/error.hpp"

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

namespace diffbench::gpu {

namespace {

std::string describe(cudaError_t code, const char* expression, Place place) {
  std::string_view file = place.file;
  file.remove_prefix(file.rfind('/') + 1); // npos + 1 is 0
  return std::string("CUDA: ") + expression + " failed: " + cudaGetErrorString(code) + " (" +
         cudaGetErrorName(code) + ", " + std::string(file) + ":" + std::to_string(place.line) + ")";
}

// Whether the context is lost: every later call then returns the same code (CUDA runtime API,
// cudaError_t).
bool loses_context(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure: return true;
    default: return false;
  }
}

// So that a lost context is reported once, not by every destructor that follows.
std::atomic<bool> loss_reported = false;

} // namespace

CudaError::CudaError(cudaError_t code, const char* expression, Place place)
    : Error(describe(code, expression, place)), code_(code), expression_(expression) {}

void check(cudaError_t code, const char* expression, Place place) {
  if (code != cudaSuccess) {
    (void)cudaGetLastError(); // or a later, innocent call would report it
    loss_reported = loss_reported || loses_context(code);
    throw CudaError(code, expression, place);
  }
}

void log_failure(cudaError_t code, const char* expression) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading) {
    return;
  }
  (void)cudaGetLastError();
  if (loses_context(code) && loss_reported.exchange(true)) {
    return;
  }
  std::fprintf(stderr, "CUDA: %s failed: %s (%s)\n", expression, cudaGetErrorString(code),
               cudaGetErrorName(code));
}

} // namespace diffbench::gpu
