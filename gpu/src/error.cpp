// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/error.hpp"

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

namespace diffbench::gpu {

namespace {

// What to do once the context is lost: every later call then returns the same code (CUDA runtime
// API, cudaError_t). nullptr for all other codes.
const char* remedy(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
      return "the card's memory is at fault: see nvidia-smi -q -d ECC, and reset the card";
    case cudaErrorLaunchTimeout:
      return "the driver limits the time of kernels on a card with a display: choose another "
             "--device, or a smaller grid";
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
      return "a kernel is at fault: compute-sanitizer with the same command says where";
    default: return nullptr;
  }
}

// What to do about a device that cannot be had. nullptr for all other codes.
const char* way_to_a_device(cudaError_t code) {
  switch (code) {
    case cudaErrorDevicesUnavailable:
      return "another program has the card for itself, or it is closed to all (nvidia-smi -q -d "
             "COMPUTE): wait, choose another --device, or have its mode set to Default";
    case cudaErrorNoKernelImageForDevice:
      return "this build has no code for the card: set -DDIFFBENCH_CUDA_ARCHITECTURES and build "
             "again";
    default: return nullptr;
  }
}

std::string describe(cudaError_t code, const char* expression, Place place) {
  std::string_view file = place.file;
  file.remove_prefix(file.rfind('/') + 1); // npos + 1 is 0
  std::string text = std::string("CUDA: ") + expression + " failed: " + cudaGetErrorString(code) +
                     " (" + cudaGetErrorName(code) + ", " + std::string(file) + ":" +
                     std::to_string(place.line) + ")";
  if (const char* const what_to_do = remedy(code)) {
    text += std::string("; ") + what_to_do + ". Nothing more runs on the card in this process.";
  } else if (const char* const way = way_to_a_device(code)) {
    text += std::string("; ") + way;
  }
  return text;
}

// So that a lost context is reported once, not by every destructor that follows.
std::atomic<bool> loss_reported = false;

} // namespace

CudaError::CudaError(cudaError_t code, const char* expression, Place place)
    : Error(describe(code, expression, place)), code_(code), expression_(expression) {}

void check(cudaError_t code, const char* expression, Place place) {
  if (code != cudaSuccess) {
    (void)cudaGetLastError(); // or a later, innocent call would report it
    loss_reported = loss_reported || remedy(code) != nullptr;
    throw CudaError(code, expression, place);
  }
}

void log_failure(cudaError_t code, const char* expression) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading) {
    return;
  }
  (void)cudaGetLastError();
  if (remedy(code) != nullptr && loss_reported.exchange(true)) {
    return;
  }
  std::fprintf(stderr, "CUDA: %s failed: %s (%s)\n", expression, cudaGetErrorString(code),
               cudaGetErrorName(code));
}

} // namespace diffbench::gpu
