#include "diffbench/gpu/device.hpp"

#include "diffbench/gpu/error.hpp"

#include <algorithm>
#include <string>

namespace diffbench::gpu {

namespace {

#if defined(DIFFBENCH_EMULATED_CUDA) // by the runtime header of tests/emulation
constexpr bool emulated = true;
#else
constexpr bool emulated = false;
#endif

// What nvcc was asked for, in ascending order: 80 stands for sm_80. The last is there as PTX too.
constexpr int architectures[] = {DIFFBENCH_CUDA_ARCHITECTURES};

// Code for X.Y runs on X.Z with Z >= Y; PTX on everything later (CUDA programming guide, "Binary
// compatibility").
bool has_code_for(int major, int minor) {
  const int capability = 10 * major + minor;
  return capability >= *std::prev(std::end(architectures)) ||
         std::ranges::any_of(architectures,
                             [&](int built) { return built / 10 == major && built <= capability; });
}

std::string built_for() {
  std::string list;
  for (const int architecture : architectures) {
    list += (list.empty() ? "sm_" : ", sm_") + std::to_string(architecture);
  }
  return list + " and later";
}

std::string no_code_for(const std::string& name, int major, int minor) {
  return name + " has compute capability " + std::to_string(major) + "." + std::to_string(minor) +
         ", and this build has code for " + built_for() +
         " only; set -DDIFFBENCH_CUDA_ARCHITECTURES and build again";
}

cudaDeviceProp properties_of(int index) {
  cudaDeviceProp properties{};
  DIFFBENCH_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  return properties;
}

// CUDA 13 leaves the count unset when there is no driver.
int device_count() {
  int count = 0;
  DIFFBENCH_CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

// Throws Unavailable for a device that is not there, or that this build has no code for.
cudaDeviceProp properties_of_usable(int index, int count) {
  if (index < 0 || index >= count) {
    std::string there = count == 1 ? "device 0 only" : "devices 0 to " + std::to_string(count - 1);
    throw Unavailable("there is no CUDA device " + std::to_string(index) + "; this machine has " +
                      (count == 0 ? "none" : there));
  }
  const cudaDeviceProp properties = properties_of(index);
  if (!has_code_for(properties.major, properties.minor)) {
    throw Unavailable("CUDA device " + std::to_string(index) + ": " +
                      no_code_for(properties.name, properties.major, properties.minor));
  }
  return properties;
}

} // namespace

Probe probe_device(int index) noexcept {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    (void)cudaGetLastError();
    int driver = 0;
    (void)cudaDriverGetVersion(&driver); // 0 where there is none
    return {.available = false,
            .reason = (driver == 0 ? std::string("no CUDA driver was found: ") : std::string()) +
                      cudaGetErrorString(code)};
  }
  try {
    (void)properties_of_usable(index, count);
    return {};
  } catch (const std::exception& error) {
    return {.available = false, .reason = error.what()};
  }
}

Device use_device(int index) {
  const cudaDeviceProp properties = properties_of_usable(index, device_count());
  DIFFBENCH_CUDA_CHECK(cudaSetDevice(index));
  DIFFBENCH_CUDA_CHECK(cudaFree(nullptr)); // makes the context now, not inside the first allocation
  return {.index = index,
          .name = properties.name,
          .compute_major = properties.major,
          .compute_minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
          .shared_bytes_per_multiprocessor =
              static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
          .registers_per_multiprocessor = properties.regsPerMultiprocessor,
          .l2_bytes = properties.l2CacheSize,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .cooperative_launch = properties.cooperativeLaunch != 0,
          .emulated = emulated};
}

std::int64_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  DIFFBENCH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

} // namespace diffbench::gpu
