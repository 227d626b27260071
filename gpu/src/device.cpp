// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/device.hpp"

#include "diffbench/gpu/error.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace diffbench::gpu {

namespace {

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

int attribute(int index, cudaDeviceAttr which) {
  int value = 0;
  DIFFBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, index));
  return value;
}

/// Of 1000 major + 10 minor.
std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}
std::string version(cudaError_t (*get)(int*)) {
  int number = 0;
  DIFFBENCH_CUDA_CHECK(get(&number));
  return version_text(number);
}

/// Why the runtime counts no devices; `driver` is 0 where there is none.
std::string why_none(cudaError_t code, int driver) {
  if (driver == 0) {
    return "no NVIDIA GPU or driver here"; // the runtime calls it too old
  }
  if (code == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is for CUDA " + version_text(driver) + ", and this program needs " +
           version_text(CUDART_VERSION) + ": update the driver, or build with an older toolkit";
  }
  return cudaGetErrorString(code);
}

// Only cudaGetDeviceProperties has the name, and that is slow: some of its figures are read over
// PCIe (NVIDIA's blog, "The Fast Way to Query Device Properties"). So it is called once a device.
DeviceFacts facts_of(int index) {
  static std::mutex mutex;
  static std::map<int, DeviceFacts> known;
  const std::lock_guard lock(mutex);
  DeviceFacts& facts = known[index];
  if (facts.name.empty()) {
    cudaDeviceProp properties{};
    DIFFBENCH_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    facts = {.name = properties.name,
             .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
             .runtime = version(cudaRuntimeGetVersion),
             .driver = version(cudaDriverGetVersion)};
  }
  return facts;
}

// CUDA 13 leaves the count unset when there is no driver.
int device_count() {
  int count = 0;
  DIFFBENCH_CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

// Throws Unavailable for a device that is not there, or that this build has no code for.
void require_usable(int index, int count) {
  if (index < 0 || index >= count) {
    std::string there = count == 1 ? "device 0 only" : "devices 0 to " + std::to_string(count - 1);
    throw Unavailable("there is no CUDA device " + std::to_string(index) + "; this machine has " +
                      (count == 0 ? "none" : there));
  }
  const int major = attribute(index, cudaDevAttrComputeCapabilityMajor);
  const int minor = attribute(index, cudaDevAttrComputeCapabilityMinor);
  if (!has_code_for(major, minor)) {
    throw Unavailable("CUDA device " + std::to_string(index) + ": " +
                      no_code_for(facts_of(index).name, major, minor));
  }
}

} // namespace

Probe probe_device(int index) noexcept {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    (void)cudaGetLastError();
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    return {.available = false,
            .why = driver == 0 ? Absent::no_gpu : Absent::otherwise,
            .reason = why_none(code, driver)};
  }
  try {
    require_usable(index, count);
    return {.device = facts_of(index)};
  } catch (const std::exception& error) {
    return {.available = false, .reason = error.what()};
  }
}

Device use_device(int index) {
  require_usable(index, device_count());
  DIFFBENCH_CUDA_CHECK(cudaSetDevice(index));
  DIFFBENCH_CUDA_CHECK(cudaFree(nullptr)); // makes the context now, not inside the first allocation
  DeviceFacts facts = facts_of(index);
  return {.index = index,
          .name = std::move(facts.name),
          .compute_major = attribute(index, cudaDevAttrComputeCapabilityMajor),
          .compute_minor = attribute(index, cudaDevAttrComputeCapabilityMinor),
          .multiprocessors = attribute(index, cudaDevAttrMultiProcessorCount),
          .shared_bytes_per_block = attribute(index, cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .most_blocks_y = attribute(index, cudaDevAttrMaxGridDimY),
          .memory_bytes = facts.memory_bytes,
          .l2_bytes = attribute(index, cudaDevAttrL2CacheSize),
          .cooperative_launch = attribute(index, cudaDevAttrCooperativeLaunch) != 0,
          .cluster_launch = attribute(index, cudaDevAttrClusterLaunch) != 0,
          .concurrent_managed_access = attribute(index, cudaDevAttrConcurrentManagedAccess) != 0};
}

void require_transfer(Transfer transfer, const Device& device) {
  if (transfer == Transfer::managed && !device.concurrent_managed_access) {
    throw Unavailable(device.name + " does not let the host use managed memory beside it (" +
                      "concurrentManagedAccess); choose another --transfer");
  }
}

std::int64_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  DIFFBENCH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

Provenance device_provenance(const Device& device, const SessionOptions& options) {
  return {
      .device = device.name,
      .details = {
          {"capability",
           std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor)},
          {"transfer", std::string(to_string(options.transfer)) + (options.async ? ", async" : "")},
      }};
}

} // namespace diffbench::gpu
