// SPDX-License-Identifier: Apache-2.0
// What a program has asked the device for: copies, launches, waits, memory, and what its kernels
// read and wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace diffbench::emulation {

struct CopyCount {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  void add(std::int64_t its_bytes) {
    ++calls;
    bytes += its_bytes;
  }
};

enum class CopyWay { to_device, to_host, on_device, on_host };
inline constexpr int copy_ways = 4;
/// The host's memory that a copy touches.
enum class HostMemory { pageable, pinned, registered };
inline constexpr int host_memories = 3;

/// Bytes that kernels read (0) and wrote (1).
struct Traffic {
  std::array<std::int64_t, 2> asked{};    ///< by the threads
  std::array<std::int64_t, 2> distinct{}; ///< of sectors, each once a launch
  std::array<std::int64_t, 2> moved{};    ///< of sectors, each once a warp and instruction
  void add(const Traffic& other);
};

/// The same by where the memory is.
struct KernelTraffic {
  Traffic card;   ///< global memory
  Traffic mapped; ///< the host's page-locked memory, through the link
  std::int64_t shared_written = 0;
  std::int64_t queued_atomics = 0; ///< on the address that a launch's atomics write most often
  void add(const KernelTraffic& other);
};

/// What a program has asked for, besides kernels.
struct Asked {
  /// By way and memory (of those that touch the host's).
  std::array<std::array<CopyCount, host_memories>, copy_ways> copies{};
  /// Of these, from page-locked memory and to it, those for which nobody waits.
  std::array<CopyCount, 2> async_copies;
  CopyCount pageable_async; ///< asked for as asynchronous, from or to pageable memory
  CopyCount memsets;
  std::int64_t waits = 0;  ///< for the device, but those of copies
  std::int64_t drains = 0; ///< times that the host has waited for kernels, copies included
  /// Memory that was allocated, page-locked or registered, by MemoryKind.
  std::array<CopyCount, 4> allocations{};
  std::int64_t frees = 0;
  std::array<std::int64_t, 2>
      migrated{}; ///< bytes of managed memory, to the device and to the host
};

/// Of a kernel's launches.
struct KernelCount {
  std::int64_t launches = 0;
  std::int64_t graph_launches = 0; ///< of these
  std::int64_t threads = 0;
  std::int64_t watched_threads = 0;
  KernelTraffic traffic;
  std::int64_t footprint = 0; ///< bytes of the buffers that its arguments name, launch by launch
};

/// What a program had asked for when it looked at a clock, or recorded an event.
struct WorkMark {
  std::ptrdiff_t launches = 0;
  std::int64_t allocations = 0; ///< and what was given back
  std::int64_t copies = 0;      ///< between host and device, but of a few numbers
  std::int64_t printed = 0;     ///< bytes, before its last call of the runtime
  std::int64_t files = 0;       ///< opened
};

/// Of the host's launches of a kernel, or of a graph.
struct Issued {
  std::int64_t launches = 0;
  Asked first, last; ///< before the first one, and before the last one
};

struct Ledger : Asked {
  bool kernels_under_way = false; ///< which nobody has waited for
  WorkMark done;
  std::map<std::string, KernelCount> kernels;
  std::map<std::string, Issued> issued;

  /// The host waits for the device.
  void note_drain() {
    drains += kernels_under_way ? 1 : 0;
    kernels_under_way = false;
  }
  void note_wait() {
    ++waits;
    note_drain();
  }

  [[nodiscard]] std::string json() const;
  /// Of what the host launches most often; null where it launches nothing.
  [[nodiscard]] std::string steps_json() const;
};

} // namespace diffbench::emulation
