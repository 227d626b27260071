// What a program has asked the device for: copies, launches, waits, memory, and what its kernels
// read and wrote.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace diffbench::emulation {

struct CopyCount {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
};

enum class CopyWay { to_device, to_host, on_device, on_host };
inline constexpr int copy_ways = 4;

/// Of a kernel's launches.
struct KernelCount {
  std::int64_t launches = 0;
  std::int64_t threads = 0;
  std::int64_t bytes_read = 0, bytes_written = 0; ///< of global memory, as the threads ask for them
};

struct Ledger {
  /// By way, and whether the host's memory is page-locked (of those that touch it).
  std::array<std::array<CopyCount, 2>, copy_ways> copies{};
  CopyCount memsets;
  CopyCount pageable_async; ///< of those copies: asked for as asynchronous, from or to such memory
  std::int64_t waits = 0;
  std::int64_t device_allocations = 0, pinned_allocations = 0, managed_allocations = 0, frees = 0;
  std::int64_t device_bytes = 0, pinned_bytes = 0, managed_bytes = 0; ///< allocated
  std::map<std::string, KernelCount> kernels;

  [[nodiscard]] std::string json() const;
};

} // namespace diffbench::emulation
