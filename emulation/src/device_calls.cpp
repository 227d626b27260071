// SPDX-License-Identifier: Apache-2.0
// The runtime's calls on errors and devices.
#include "runtime.hpp"

#include <algorithm>
#include <cstdio>

using namespace diffbench::emulation;

namespace {

constexpr int version = CUDART_VERSION;

const DeviceSpec* find_device(Runtime& state, int device) {
  const bool exists = device >= 0 && static_cast<std::size_t>(device) < state.devices.size();
  return exists ? &state.devices[static_cast<std::size_t>(device)].spec : nullptr;
}

cudaDeviceProp properties_of(const DeviceSpec& spec, int device) {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "%s", spec.name.c_str());
  p.totalGlobalMem = spec.memory_bytes;
  p.sharedMemPerBlock = spec.shared_bytes_per_block;
  p.regsPerBlock = spec.registers_per_multiprocessor;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = spec.blocks_y;
  p.maxGridSize[2] = 65535;
  p.major = spec.compute_major;
  p.minor = spec.compute_minor;
  p.multiProcessorCount = spec.multiprocessors;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.pciBusID = device + 1;
  p.asyncEngineCount = 2;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = 512;
  p.l2CacheSize = static_cast<int>(spec.l2_bytes);
  p.maxThreadsPerMultiProcessor = spec.threads_per_multiprocessor;
  p.sharedMemPerMultiprocessor = spec.shared_bytes_per_multiprocessor;
  p.regsPerMultiprocessor = spec.registers_per_multiprocessor;
  p.managedMemory = 1;
  p.concurrentManagedAccess = spec.concurrent_managed_access ? 1 : 0;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = spec.cooperative_launch ? 1 : 0;
  p.sharedMemPerBlockOptin = spec.shared_bytes_per_block_optin;
  p.maxBlocksPerMultiProcessor = spec.blocks_per_multiprocessor;
  p.reservedSharedMemPerBlock = spec.reserved_shared_bytes;
  p.hostRegisterSupported = 1;
  return p;
}

int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrWarpSize: return p.warpSize;
    case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
    case cudaDevAttrClockRate: return 1'000'000;
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrIntegrated: return p.integrated;
    case cudaDevAttrCanMapHostMemory: return p.canMapHostMemory;
    case cudaDevAttrConcurrentKernels: return p.concurrentKernels;
    case cudaDevAttrMemoryClockRate: return 1'000'000;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return p.unifiedAddressing;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory: return p.managedMemory;
    case cudaDevAttrPageableMemoryAccess: return p.pageableMemoryAccess;
    case cudaDevAttrConcurrentManagedAccess: return p.concurrentManagedAccess;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return p.canUseHostPointerForRegisteredMem;
    case cudaDevAttrCooperativeLaunch: return p.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrHostRegisterSupported: return p.hostRegisterSupported;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(p.reservedSharedMemPerBlock);
    case cudaDevAttrClusterLaunch: return 0; // the caller's, who has the DeviceSpec
  }
  return 0;
}

cudaError_t get_version(int* result) {
  *result = version;
  return cudaSuccess;
}

} // namespace

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define DIFFBENCH_CUDA_ERROR(name, value, text) \
  case name:                                    \
    return #name;
#include "emulation/errors.inc"
#undef DIFFBENCH_CUDA_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define DIFFBENCH_CUDA_ERROR(name, value, text) \
  case name:                                    \
    return text;
#include "emulation/errors.inc"
#undef DIFFBENCH_CUDA_ERROR
  }
  return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(runtime_mutex());
  Runtime& state = runtime();
  state.unchecked = {};
  const bool broken = !state.devices.empty() && state.device().sticky != cudaSuccess;
  return broken ? state.device().sticky : state.last_error;
}

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(runtime_mutex());
  const cudaError_t error = cudaPeekAtLastError();
  runtime().last_error = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [=](Runtime& state) {
    *count = static_cast<int>(state.devices.size());
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [=](Runtime& state) {
    if (find_device(state, device) == nullptr) {
      return cudaErrorInvalidDevice;
    }
    state.current_device = device;
    return state.device().sticky;
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", [=](Runtime& state) {
    return find_device(state, device) == nullptr ? cudaErrorInvalidDevice : cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [=](Runtime& state) {
    *device = state.current_device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", [=](Runtime& state) {
    const DeviceSpec* spec = find_device(state, device);
    if (spec == nullptr) {
      return cudaErrorInvalidDevice;
    }
    *properties = properties_of(*spec, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", [=](Runtime& state) {
    const DeviceSpec* spec = find_device(state, device);
    if (spec == nullptr) {
      return cudaErrorInvalidDevice;
    }
    *value = attribute == cudaDevAttrClusterLaunch
                 ? (spec->cluster_launch ? 1 : 0)
                 : attribute_of(properties_of(*spec, device), attribute);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return call("cudaDeviceGetPCIBusId", [=](Runtime& state) {
    if (find_device(state, device) == nullptr || size <= 0) {
      return cudaErrorInvalidValue;
    }
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", device + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return waiting("cudaDeviceSynchronize", [](Runtime& state) {
    state.ledger.note_wait();
    return state.forbidden_by_capture() ? cudaErrorStreamCaptureUnsupported : state.wait_for_all();
  });
}

cudaError_t cudaDeviceReset() {
  return waiting("cudaDeviceReset", [](Runtime& state) {
    const cudaError_t earlier = state.wait_for_all();
    state.ledger.note_drain();
    state.forget_resources();
    return earlier;
  });
}

cudaError_t cudaDriverGetVersion(int* driver_version) {
  if (const int old = runtime().old_driver; old != 0 && driver_version != nullptr) {
    *driver_version = old;
    return cudaSuccess;
  }
  return call("cudaDriverGetVersion", [=](Runtime&) { return get_version(driver_version); });
}

cudaError_t cudaRuntimeGetVersion(int* runtime_version) {
  return call("cudaRuntimeGetVersion", [=](Runtime&) { return get_version(runtime_version); });
}
