// SPDX-License-Identifier: Apache-2.0
// How a test steers the emulated CUDA runtime: the seed of its schedules, the devices it shows,
// which call is to fail, and what it has seen.
//
// The emulation is one per process and starts as Settings{} says. Everything here may be called at
// any time from the thread that uses the runtime; a kernel must not call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace diffbench::emulation {

/// What cudaGetDeviceProperties, the launch checks and the occupancy calculation go by. Small, so
/// that tests meet the limits; the figures of one multiprocessor are Hopper's.
struct DeviceSpec {
  std::string name = "Emulated device";
  int compute_major = 9;
  int compute_minor = 0;
  int multiprocessors = 4;
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::size_t shared_bytes_per_block = 48 << 10;
  std::size_t shared_bytes_per_block_optin = 227 << 10;
  std::size_t shared_bytes_per_multiprocessor = 228 << 10;
  std::size_t reserved_shared_bytes = 1024; ///< of a block, by the system
  int registers_per_multiprocessor = 65536;
  int threads_per_multiprocessor = 2048;
  int blocks_per_multiprocessor = 32;
  int blocks_y = 65535; ///< the most of a launch
  std::size_t l2_bytes = 1 << 20;
  bool cooperative_launch = true;
  bool cluster_launch = true;
  int multiprocessors_per_gpc = 16; ///< a cluster lies within one
  bool concurrent_managed_access = true;
  /// false: no kernel was built for this device (cudaErrorNoKernelImageForDevice).
  bool has_code = true;
  int code_for = 0; ///< what kernels were compiled for, 80 for sm_80; 0: for this device
};

struct Settings {
  /// Decides every schedule. At the start of the process: DIFFBENCH_EMULATION_SEED, else 1.
  std::uint64_t seed = 1;
  /// Empty: cudaErrorNoDevice.
  std::vector<DeviceSpec> devices = {DeviceSpec{}};
  /// false: as on a machine without a driver (cudaErrorInsufficientDriver from every call).
  bool driver = true;
  /// Of a driver that is too old for the runtime, 12020 for 12.2, which answers to nothing else; 0:
  /// it is new enough.
  int old_driver = 0;
  /// cuBLASLt has no algorithm for a product with a side shorter than this.
  std::int64_t shortest_matmul_side = 1;
  /// What cuBLASLt answers when asked for a float64 product with an epilogue: it has none (cuBLAS
  /// library, cublasLtMatmul, table of types: "Non-default epilogue not supported"); by default
  /// CUBLAS_STATUS_NOT_SUPPORTED. 0: it computes them, so that tests of float64 see fused products.
  int float64_epilogue_status = 15;
};

/// Starts anew: forgets all work, memory, handles, faults, reports and counts. Handles and memory
/// that were still held become invalid; look at live_resources() first.
void reset(const Settings& settings = {});

/// Another schedule from here on; nothing else changes.
void set_seed(std::uint64_t seed);

/// The k-th call of the runtime from now (the next one is 1) fails with `code` and does nothing. A
/// call that gives something back (cudaFree, cudaStreamDestroy, cudaStreamEndCapture, ...) still
/// gives it back, as there is no second try. cudaGetLastError, cudaPeekAtLastError,
/// cudaGetErrorName and cudaGetErrorString are not counted.
void fail_call(std::int64_t k, cudaError_t code);

/// The k-th kernel, or product of cuBLASLt, that runs from now on (the next one is 1) faults with
/// `code` when it runs: a sticky error, which the next synchronisation and every call after it
/// return until reset().
void fail_kernel(std::int64_t k, cudaError_t code);

/// Forgets the planned faults.
void clear_faults();

/// The name of the call, or "kernel", that was last made to fail; empty when none was since
/// reset().
[[nodiscard]] std::string failed_call();

/// Counts since reset().
struct Counters {
  std::int64_t calls = 0;    ///< of the runtime, those counted by fail_call
  std::int64_t kernels = 0;  ///< that ran
  std::int64_t blocks = 0;   ///< that ran
  std::int64_t copies = 0;   ///< and memsets that ran
  std::int64_t switches = 0; ///< between threads of kernels
  std::int64_t accesses = 0; ///< that were watched for races
};
[[nodiscard]] Counters counters();

/// What has been made and not given back, one line each ("stream, made by call 12"): device, pinned
/// and managed memory, registered ranges, streams, events, graphs, what cuBLASLt made. Empty when
/// nothing leaks.
[[nodiscard]] std::vector<std::string> live_resources();

/// Work that has been issued and has not run.
[[nodiscard]] std::int64_t pending_operations();

/// Bugs of the code under test that the emulation has seen since the last call, one line each. Each
/// has also been written to stderr; those in kernels are sticky errors.
[[nodiscard]] std::vector<std::string> take_reports();

} // namespace diffbench::emulation
