// SPDX-License-Identifier: Apache-2.0
// A block of a running kernel: its threads, what they wait for, and its shared memory.
#pragma once

#include "canary.hpp"
#include "race_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace diffbench::emulation {

struct Worker;

enum class ThreadState {
  unstarted,
  runnable,
  at_block_barrier,
  at_cluster_barrier,
  at_grid_barrier,
  in_warp,
  at_active_mask, ///< it asks which lanes are with it
  finished
};

struct Thread {
  uint3 index{};
  struct Block* block = nullptr;
  int rank = 0; ///< in the block; the lane is rank % 32
  ThreadState state = ThreadState::unstarted;
  Worker* worker = nullptr; ///< the fiber that it runs on; null before it starts
  detail::Site site{};      ///< where it waits
  bool arrived = false;     ///< at the barrier of its cluster, and has not waited there
  std::uint64_t phase = 0;  ///< of that barrier when it arrived
  // Of a meeting of lanes:
  detail::WarpCall call{};
  unsigned mask = 0;
  int source = 0;
  std::uint64_t value = 0; ///< given, then received
};

/// Threads that arrive at a barrier; it opens when all have arrived at the same line.
struct Barrier {
  std::size_t arrived = 0;
  bool lines_differ = false;
  detail::Site site{};
};

struct Warp {
  unsigned alive = 0; ///< lanes that have not returned
  int waiting = 0;    ///< lanes in a meeting
};

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes), memory_(bytes + 2 * zone_bytes) {
    fill();
    close_zone(before());
    close_zone(after());
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    static_cast<void>(untouched_around());
    if (closed_) {
      static_cast<void>(open());
    }
  }

  void fill() { fill_with_poison(data(), bytes_); }
  [[nodiscard]] std::byte* data() { return memory_.data() + zone_bytes; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  /// Opens the zones; call it once the block is done.
  [[nodiscard]] bool untouched_around() {
    const bool before_ok = open_zone(before());
    return open_zone(after()) && before_ok;
  }

  /// Of a block that has not begun, or has returned: nobody may touch it.
  void close() {
    close_zone({data(), bytes_});
    closed_ = true;
  }
  /// As fresh memory. false: someone wrote to it while it was closed.
  [[nodiscard]] bool open() {
    const bool untouched = open_zone({data(), bytes_});
    fill();
    closed_ = false;
    return untouched;
  }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool holds(const void* address) {
    return address >= data() && address < data() + bytes_;
  }

 private:
  static constexpr std::size_t zone_bytes = 256;
  std::span<std::byte> before() { return {memory_.data(), zone_bytes}; }
  std::span<std::byte> after() { return {data() + bytes_, zone_bytes}; }

  std::size_t bytes_;
  bool closed_ = false;
  std::vector<std::byte> memory_;
};

/// A variable, or some that were declared together.
struct StaticShared {
  StaticShared(const void* its_key, std::size_t bytes) : key(its_key), memory(bytes) {}
  const void* key;
  SharedMemory memory;
};

struct Block {
  Block(uint3 block_index, dim3 shape, std::size_t shared_bytes);

  uint3 index;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  SharedMemory shared;       ///< dynamic
  bool wants_shared = false; ///< a thread has asked where that is
  bool touched = true;       ///< its threads are not as at the beginning
  std::vector<std::unique_ptr<StaticShared>> statics;
  struct Cluster* cluster = nullptr;
  Barrier barrier;
  int votes = 0;                     ///< at the present barrier
  int vote_result = 0;               ///< of the last one
  std::unique_ptr<BlockRaces> races; ///< null: nobody looks for them
  std::size_t started = 0;           ///< threads
  std::size_t finished = 0;

  /// In the place of one that has returned.
  void begin_again(uint3 its_index);
};

inline Block::Block(uint3 block_index, dim3 shape, std::size_t shared_bytes)
    : index(block_index),
      threads(std::size_t{shape.x} * shape.y * shape.z),
      warps((threads.size() + 31) / 32),
      shared(shared_bytes) {
  int rank = 0;
  for (Thread& thread : threads) {
    const auto r = static_cast<unsigned>(rank);
    thread.index = {r % shape.x, r / shape.x % shape.y, r / shape.x / shape.y};
    thread.block = this;
    thread.rank = rank++;
    warps[r / 32].alive |= 1u << (r % 32);
  }
}

inline void Block::begin_again(uint3 its_index) {
  index = its_index;
  if (std::exchange(touched, false)) {
    for (Thread& thread : threads) {
      thread.state = ThreadState::unstarted;
      thread.worker = nullptr;
      const auto r = static_cast<unsigned>(thread.rank);
      warps[r / 32].waiting = 0;
      warps[r / 32].alive |= 1u << (r % 32);
    }
    barrier = {};
    votes = 0;
    finished = 0;
  }
  shared.fill();
  for (const auto& variable : statics) {
    variable->memory.fill();
  }
}

} // namespace diffbench::emulation
