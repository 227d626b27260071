// SPDX-License-Identifier: Apache-2.0
// Launches: what the runtime refuses at the call, and what happens when the kernel runs.
#include "code_site.hpp"
#include "grid.hpp"
#include "kernel_name.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::emulation {
namespace {

// Of a thread, as nvcc gives them for sm_90: from the budget that the machine code is held against.
const std::map<std::string, int> known_registers = {
#include "kernel_registers.inc"
};
constexpr int usual_registers = 32; // of kernels that only tests have

int registers_of(const void* kernel) {
  static std::map<const void*, int> found;
  const auto [entry, is_new] = found.try_emplace(kernel, usual_registers);
  if (is_new) {
    // "void diffbench::kernels::naive_step<float>(...)"
    std::string name = kernel_name(kernel);
    name = name.substr(0, name.find('('));
    const std::string prefix = "void diffbench::";
    const auto known =
        known_registers.find(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
    entry->second = known != known_registers.end() ? known->second : usual_registers;
  }
  return entry->second;
}

int occupancy(const DeviceSpec& spec, const void* kernel, std::size_t block_size,
              std::size_t shared_bytes) {
  const std::size_t threads = (block_size + 31) / 32 * 32; // whole warps
  if (threads == 0 || threads > 1024 || shared_bytes > spec.shared_bytes_per_block_optin) {
    return 0;
  }
  const auto limit = [](auto have, std::size_t need) {
    return static_cast<std::size_t>(have) / need;
  };
  return static_cast<int>(
      std::min({limit(spec.threads_per_multiprocessor, threads),
                limit(spec.registers_per_multiprocessor,
                      threads * static_cast<std::size_t>(registers_of(kernel))),
                limit(spec.shared_bytes_per_multiprocessor,
                      std::max<std::size_t>(1, shared_bytes + spec.reserved_shared_bytes)),
                static_cast<std::size_t>(spec.blocks_per_multiprocessor)}));
}

// The most dynamic shared memory that `kernel` may be launched with.
std::size_t shared_limit(Runtime& state, const void* kernel) {
  const auto asked = state.dynamic_shared_limits.find({state.current_device, kernel});
  return std::max(state.device().spec.shared_bytes_per_block,
                  asked == state.dynamic_shared_limits.end()
                      ? std::size_t{0}
                      : static_cast<std::size_t>(asked->second));
}

// How many clusters of `launch` fit at once; each within a group of multiprocessors.
int active_clusters(const DeviceSpec& spec, const void* kernel, const GridLaunch& launch) {
  const int in_gpc = std::min(spec.multiprocessors_per_gpc, spec.multiprocessors);
  const int blocks = in_gpc * occupancy(spec, kernel, count(launch.block), launch.shared_bytes);
  return spec.multiprocessors / in_gpc * (blocks / static_cast<int>(count(launch.cluster)));
}

constexpr std::size_t portable_cluster = 8;
constexpr std::size_t largest_cluster = 16; // of Hopper

cudaError_t cluster_refused(Runtime& state, const void* kernel, const GridLaunch& launch) {
  const dim3& cluster = launch.cluster;
  if (!state.device().spec.cluster_launch) {
    return cudaErrorNotSupported;
  }
  if (launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0) {
    return cudaErrorInvalidConfiguration;
  }
  const bool large = state.large_clusters_allowed.contains({state.current_device, kernel});
  if (count(cluster) > (large ? largest_cluster : portable_cluster)) {
    return cudaErrorInvalidClusterSize;
  }
  return active_clusters(state.device().spec, kernel, launch) < 1 ? cudaErrorLaunchOutOfResources
                                                                  : cudaSuccess;
}

// The launch that a configuration describes; nothing, when a dimension of its clusters is 0.
std::optional<GridLaunch> launch_of(const cudaLaunchConfig_t& config, bool& clustered) {
  GridLaunch grid;
  grid.grid = config.gridDim;
  grid.block = config.blockDim;
  grid.shared_bytes = config.dynamicSmemBytes;
  clustered = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    grid.cooperative |=
        config.attrs[i].id == cudaLaunchAttributeCooperative && value.cooperative != 0;
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      clustered = true;
      grid.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    }
  }
  return count(grid.cluster) == 0 ? std::nullopt : std::optional(grid);
}

cudaError_t refused(Runtime& state, const void* kernel, const GridLaunch& launch) {
  const DeviceSpec& spec = state.device().spec;
  const dim3& grid = launch.grid;
  const dim3& block = launch.block;
  if (!spec.has_code) {
    return cudaErrorNoKernelImageForDevice;
  }
  if (count(grid) == 0 || count(block) == 0 || grid.x > 0x7fffffff ||
      grid.y > static_cast<unsigned>(spec.blocks_y) || grid.z > 65535 || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || count(block) > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  if (launch.shared_bytes > shared_limit(state, kernel)) {
    return cudaErrorInvalidValue;
  }
  if (occupancy(spec, kernel, count(block), launch.shared_bytes) == 0) {
    return cudaErrorLaunchOutOfResources; // registers: all else was looked at
  }
  if (launch.cooperative) {
    if (!spec.cooperative_launch) {
      return cudaErrorNotSupported;
    }
    const auto resident =
        static_cast<std::size_t>(spec.multiprocessors) *
        static_cast<std::size_t>(occupancy(spec, kernel, count(block), launch.shared_bytes));
    if (count(grid) > resident) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

// A pointer of the host among the arguments would fault on a device. (Pointers inside structures
// are not seen.)
std::string bad_pointer(Runtime& state, const std::vector<const void*>& pointers) {
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr || state.memory.find(pointers[i], 0) != nullptr) {
      continue;
    }
    const Buffer* near = state.memory.near(pointers[i]);
    const std::string which = "pointer argument " + std::to_string(i + 1);
    if (near == nullptr) {
      return which + " is neither device memory nor page-locked";
    }
    return near->freed ? "use after free: " + which + " is " + near->description()
                       : "out of bounds: " + which + " lies beside " + near->description();
  }
  return {};
}

void run_kernel(Runtime& state, int device, const GridLaunch& launch,
                const detail::KernelCall& kernel, bool in_graph) {
  ++state.counters.kernels;
  if (state.kernel_fault.due()) {
    state.failed_call = "kernel";
    state.fault(device, state.kernel_fault.code);
    return;
  }
  state.running_kernel = kernel.function;
  state.running_words = kernel.words;
  KernelCount& count_of_kernel = state.ledger.kernels[kernel_name(kernel.function)];
  ++count_of_kernel.launches;
  count_of_kernel.graph_launches += in_graph ? 1 : 0;
  count_of_kernel.threads += static_cast<std::int64_t>(count(launch.grid) * count(launch.block));
  if (only_launches) {
    state.running_kernel = nullptr;
    return;
  }
  const auto give_up = [&](Finding bug, cudaError_t code) {
    state.report(std::move(bug));
    state.fault(device, code);
  };
  GridCounts counts;
  if (const std::string bug = bad_pointer(state, kernel.pointers); !bug.empty()) {
    give_up({.kind = FindingKind::out_of_bounds, .message = bug}, cudaErrorIllegalAddress);
    state.running_kernel = nullptr;
    return;
  }
  for (std::set<const Buffer*> named; const void* pointer : kernel.pointers) {
    const Buffer* const buffer = state.memory.find(pointer, 0);
    count_of_kernel.footprint += buffer != nullptr && named.insert(buffer).second
                                     ? static_cast<std::int64_t>(buffer->bytes)
                                     : 0;
  }
  GridLaunch sampled = launch;
  if (is_program()) {
    if (past_deadline()) {
      end_program();
    }
    sampled.watched_accesses = accesses_to_watch(count_of_kernel.launches);
    race_detector().look_at(4 * sampled.watched_accesses); // of a block that makes many, a part
  }
  if (sampled.watched_accesses > 0) {
    race_detector().begin_kernel(kernel.function, launch.grid, launch.cluster, launch.block);
  }
  std::optional<Finding> problem = run_grid(sampled, state.random, counts);
  if (counts.watched_blocks < static_cast<std::int64_t>(count(launch.grid)) ||
      race_detector().has_looked_away()) {
    race_detector().expose();
  }
  race_detector().look_at(std::numeric_limits<std::int64_t>::max());
  if (problem) {
    const FindingKind kind = problem->kind;
    const bool of_memory = kind == FindingKind::out_of_bounds ||
                           kind == FindingKind::use_after_free ||
                           kind == FindingKind::device_touches_host;
    const bool asserts = kind == FindingKind::kernel_fault && !std::exchange(state.trapped, false);
    give_up(std::move(*problem), of_memory ? cudaErrorIllegalAddress
                                 : asserts ? cudaErrorAssert
                                           : cudaErrorLaunchFailure);
  } else if (const std::string written = state.memory.overwritten(); !written.empty()) {
    give_up({.kind = FindingKind::out_of_bounds, .message = written}, cudaErrorIllegalAddress);
  }
  count_of_kernel.traffic.add(race_detector().take_traffic());
  count_of_kernel.watched_threads +=
      counts.watched_blocks * static_cast<std::int64_t>(count(launch.block));
  state.counters.blocks += counts.blocks;
  state.counters.switches += counts.switches;
  state.running_kernel = nullptr;
}

// Of managed memory by a kernel, from its launch until it has run or been given up.
class ManagedUse {
 public:
  ManagedUse(Memory& memory, std::vector<const void*> pointers)
      : memory_(memory), pointers_(std::move(pointers)) {
    memory_.occupy(pointers_);
  }
  ManagedUse(const ManagedUse&) = delete;
  ManagedUse& operator=(const ManagedUse&) = delete;
  ~ManagedUse() { end(); }
  void end() { memory_.release_use(std::exchange(pointers_, {})); }

 private:
  Memory& memory_;
  std::vector<const void*> pointers_;
};

} // namespace

cudaError_t detail::launch(const cudaLaunchConfig_t& config, KernelCall kernel) {
  return call("cudaLaunchKernelEx", [&](Runtime& state) {
    Stream* stream = state.find_stream(config.stream);
    if (stream == nullptr || stream->device != state.current_device) {
      return cudaErrorInvalidResourceHandle;
    }
    bool clustered = false;
    std::optional<GridLaunch> grid = launch_of(config, clustered);
    if (!grid) {
      return cudaErrorInvalidClusterSize;
    }
    grid->run_thread = kernel.run_thread;
    grid->run_block = kernel.run_block;
    if (const cudaError_t why = refused(state, kernel.function, *grid); why != cudaSuccess) {
      return why;
    }
    if (clustered) {
      if (const cudaError_t why = cluster_refused(state, kernel.function, *grid);
          why != cudaSuccess) {
        return why;
      }
    }
    const int device = stream->device;
    if (stream->capture.capture != nullptr) { // the graph may never run
      return state.issue(*stream, [&state, device, grid = *grid, kernel] {
        run_kernel(state, device, grid, kernel, /*in_graph=*/true);
      });
    }
    note_launch(state, *stream, kernel.site, kernel_name(kernel.function));
    const auto use = std::make_shared<ManagedUse>(state.memory, kernel.pointers);
    const cudaError_t issued = state.issue(*stream, [&state, device, grid = *grid, kernel, use] {
      run_kernel(state, device, grid, kernel, /*in_graph=*/false);
      use->end();
    });
    for (const DeviceVariables& variables : device_variables()) { // any kernel may use these
      if (variables.kind == MemoryKind::managed_variables) {
        state.add_host_use({reinterpret_cast<std::uintptr_t>(variables.bytes.data()),
                            variables.bytes.size(), true, kernel.site, stream->last});
      }
    }
    for (const void* pointer : kernel.pointers) { // the host's own, and managed memory
      const Buffer* const buffer = state.memory.find(pointer, 0);
      if (has_user_code() && buffer != nullptr && buffer->kind != MemoryKind::device) {
        state.add_host_use({reinterpret_cast<std::uintptr_t>(buffer->data), buffer->bytes, true,
                            kernel.site, stream->last});
      }
    }
    return issued;
  });
}

} // namespace diffbench::emulation

using namespace diffbench::emulation;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [=](Runtime& state) {
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const std::size_t most = state.device().spec.shared_bytes_per_block_optin;
      if (value < 0 || static_cast<std::size_t>(value) > most) {
        return cudaErrorInvalidValue;
      }
      state.dynamic_shared_limits[{state.current_device, kernel}] = value;
    }
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      if (!state.device().spec.cluster_launch) {
        return cudaErrorNotSupported;
      }
      if (value != 0) {
        state.large_clusters_allowed.insert({state.current_device, kernel});
      } else {
        state.large_clusters_allowed.erase({state.current_device, kernel});
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", [=](Runtime& state) {
    const auto& spec = state.device().spec;
    if (!spec.has_code) {
      return cudaErrorNoKernelImageForDevice;
    }
    *attributes = {};
    attributes->numRegs = registers_of(kernel);
    attributes->maxThreadsPerBlock =
        std::min(1024, spec.registers_per_multiprocessor / attributes->numRegs / 32 * 32);
    attributes->binaryVersion = 10 * spec.compute_major + spec.compute_minor;
    attributes->ptxVersion = spec.code_for != 0 ? spec.code_for : attributes->binaryVersion;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(state, kernel));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_size,
                                                          std::size_t shared_bytes) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [=](Runtime& state) {
    if (block_size <= 0) {
      return cudaErrorInvalidValue;
    }
    const bool allowed = shared_bytes <= shared_limit(state, kernel);
    *blocks = allowed ? occupancy(state.device().spec, kernel, static_cast<std::size_t>(block_size),
                                  shared_bytes)
                      : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [=](Runtime& state) {
    bool clustered = false;
    const auto launch = launch_of(*config, clustered);
    if (!launch) {
      return cudaErrorInvalidClusterSize;
    }
    const cudaError_t why = cluster_refused(state, kernel, *launch);
    if (why == cudaErrorLaunchOutOfResources ||
        launch->shared_bytes > shared_limit(state, kernel)) {
      *clusters = 0;
      return cudaSuccess;
    }
    if (why == cudaSuccess) {
      *clusters = active_clusters(state.device().spec, kernel, *launch);
    }
    return why;
  });
}
