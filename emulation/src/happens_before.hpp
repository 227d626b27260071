// SPDX-License-Identifier: Apache-2.0
// What is ordered before what, on the device and between its operations, by the rules of CUDA and
// not by the order in which the emulation happened to run things.
//
// A thread counts epochs: each time that others may learn of what it did (a barrier, a release),
// the next one begins. A clock says of blocks and of threads up to which epoch their accesses are
// known to have happened; that is compact because whole blocks meet at barriers. (Vector clocks
// with epochs: Flanagan, Freund: FastTrack, PLDI 2009. Compressed along CUDA's hierarchy: Eizenberg
// et al.: BARRACUDA, PLDI 2017.)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace diffbench::emulation {

/// Immutable once it is shared: threads that have met have one together.
class Clock {
 public:
  /// Accesses of all threads of `block` in epochs before this one are known; 0: none.
  [[nodiscard]] std::uint32_t of_block(std::uint32_t block) const { return find(blocks_, block); }
  [[nodiscard]] std::uint32_t of_thread(std::uint32_t block, std::uint16_t thread) const {
    return find(threads_, key(block, thread));
  }
  void learn_block(std::uint32_t block, std::uint32_t before);
  void learn_thread(std::uint32_t block, std::uint16_t thread, std::uint32_t before);
  void join(const Clock& other);
  /// Nothing would be learnt from `other`.
  [[nodiscard]] bool covers(const Clock& other) const;

 private:
  struct Entry {
    std::uint64_t of;
    std::uint32_t before;
  };
  using Entries = std::vector<Entry>; // by `of`
  static std::uint64_t key(std::uint32_t block, std::uint16_t thread) {
    return std::uint64_t{block} << 16 | thread;
  }
  static std::uint32_t find(const Entries& entries, std::uint64_t of);
  static void learn(Entries& entries, Entry entry);
  static void join(Entries& entries, const Entries& others);
  static std::uint32_t block_of(const Entry& thread) {
    return static_cast<std::uint32_t>(thread.of >> 16);
  }

  Entries blocks_;
  Entries threads_; ///< what is known of them beyond their blocks
};
using ClockPtr = std::shared_ptr<const Clock>; ///< null: nothing is known

/// For whom an atomic access or a fence orders: CUDA's __NV_THREAD_SCOPE_*.
enum class Scope : std::uint8_t { thread, block, cluster, device, system };

/// What a store or a fence lets others know.
struct Release {
  Scope scope{};
  std::uint32_t block = 0;
  ClockPtr clock;
};

/// A thread of a kernel: what it may rely on.
struct ThreadOrder {
  std::uint32_t block = 0; ///< its number: no two blocks of any launches have the same
  std::uint16_t thread = 0;
  std::uint32_t epoch = 1;
  std::uint32_t own_before = 1; ///< of its block: clock->of_block(block), or its beginning
  ClockPtr clock;
  std::array<ClockPtr, 5>
      fences;                ///< by scope: known at the last fence of that scope or a wider one
  std::vector<Release> seen; ///< by relaxed loads: a fence makes it known

  [[nodiscard]] bool knows(std::uint32_t other, std::uint16_t its_thread,
                           std::uint32_t its_epoch) const;
  void learn(const ClockPtr& other);
  /// Keeps it for the next fence.
  void see(const Release& release);
  /// What is known, what the thread itself did included; its next epoch begins.
  [[nodiscard]] ClockPtr release();
};

/// Whole blocks at a barrier: all threads of each. Nobody: nothing happens.
void meet_in_blocks(std::span<ThreadOrder* const> threads);
/// Some threads of a block: lanes of a warp.
void meet_in_warp(std::span<ThreadOrder* const> threads);

/// The barrier of a cluster, which has two halves.
class ClusterOrder {
 public:
  void arrive(ThreadOrder& thread);
  /// All threads have arrived.
  void open();
  void wait(ThreadOrder& thread);

 private:
  struct Arrival {
    std::uint32_t block;
    std::uint16_t thread;
    std::uint32_t before;
  };
  std::vector<Arrival> arrivals_;
  std::vector<ClockPtr> clocks_; ///< of those who have arrived, each once
  ClockPtr opened_;
};

/// An operation of a stream or a graph. Operations that follow each other make a chain, as few as
/// there are; `known` says how far of each.
struct OperationOrder {
  std::uint32_t chain = 0;
  std::uint32_t position = 0;
  std::vector<std::uint32_t> known;

  [[nodiscard]] bool knows(std::uint32_t of_chain, std::uint32_t of_position) const {
    return of_chain < known.size() && known[of_chain] >= of_position;
  }
  void learn(const OperationOrder& other);
};

/// What the host has waited for, and the ends of the chains.
class HostOrder {
 public:
  /// Of an operation issued now, after `earlier` ones.
  [[nodiscard]] OperationOrder issue(std::span<const OperationOrder* const> earlier);
  void wait_for(const OperationOrder& operation) { host_.learn(operation); }
  void wait_for_all() { host_.known = ends_; }

 private:
  OperationOrder host_;
  std::vector<std::uint32_t> ends_; ///< of each chain: the last position
};

} // namespace diffbench::emulation
