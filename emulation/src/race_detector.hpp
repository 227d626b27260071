// SPDX-License-Identifier: Apache-2.0
// Races: accesses to a cell that nothing orders, one of which writes, found whatever the schedule
// did with them.
//
// Kernels compiled with -fsanitize=thread call a function at every load and store (race_hooks.cpp),
// which ends here. Device memory, page-locked memory and the blocks' shared memory have a shadow:
// for each word its last write, and the reads since then. Copies are accesses too. In a program
// without such kernels nothing is kept.
#pragma once

#include "findings.hpp"
#include "happens_before.hpp"
#include "ledger.hpp"
#include "warp_sectors.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace diffbench::emulation {

/// An access as it is kept.
struct Stamp {
  std::uint64_t site : 48; ///< where in the code (code_site.hpp); 0: a copy, or a block's life
  std::uint64_t thread : 10;
  std::uint64_t scope : 3;   ///< of an atomic access; 0: of none
  std::uint64_t divided : 1; ///< no access: number `epoch` of what is kept elsewhere
  std::uint32_t block;       ///< 0: no access
  std::uint32_t epoch;
};

/// Four bytes, or one of those that are also accessed one by one.
struct Cell {
  Stamp write; ///< divided: the four bytes have a cell each
  Stamp read;  ///< since that write; divided: several
};

/// Memory with a shadow.
struct Watched {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::string what;        ///< empty: shared memory
  std::uint32_t block = 0; ///< whose shared memory it is
  bool unwritten = false;  ///< until kernels and copies, which are seen, write to it
  bool exposed = false;    ///< to writes that nobody saw
  bool mapped = false;     ///< the host's, page-locked: kernels reach it through the link
  /// While traffic is counted, of sectors: the last launch that read, and that wrote.
  std::vector<std::array<std::uint32_t, 2>> touched = {};
  enum class Place : std::uint8_t { nowhere, host, device };
  std::vector<Place> pages = {}; ///< of managed memory
  struct Free {
    void operator()(Cell* memory) const { std::free(memory); }
  };
  std::unique_ptr<Cell[], Free> cells;

  void watch(const void* data, std::size_t size);
  [[nodiscard]] bool holds(std::uintptr_t address) const { return address - begin < bytes; }
  [[nodiscard]] std::size_t cell_count() const { return (begin % 4 + bytes + 3) / 4; }
};

/// A block that is resident.
struct BlockRaces {
  BlockRaces(std::uint32_t number, std::size_t thread_count);
  BlockRaces(const BlockRaces&) = delete;
  BlockRaces& operator=(const BlockRaces&) = delete;
  ~BlockRaces();

  std::vector<ThreadOrder> threads;
  std::vector<ThreadOrder*> all; ///< of these
  struct PlainRead {
    std::uintptr_t address;
    std::uint64_t site;
  };
  std::vector<std::array<PlainRead, 4>> last_reads; ///< by thread: what it read last of memory
  Watched shared;                                   ///< dynamic
  std::deque<Watched> statics;
  WarpSectors sectors, mapped_sectors; ///< while traffic is counted
  void watch_static(std::span<const std::byte> memory);
  Watched* find(std::uintptr_t address);
  std::vector<BlockRaces*> cluster; ///< the others of its cluster
};

class RaceDetector {
 public:
  /// The program has kernels that say what they access.
  static void enable() { enabled_ = true; }
  static void disable() { enabled_ = false; }
  /// Besides, every access is looked at: of what nobody has written, and of foreign memory.
  static void look_at_everything() { strict_ = true; }
  /// From now on, or no longer: sectors, of which nothing is known before. Takes time.
  static void count_traffic(bool on) { counts_traffic_ = on; }
  /// So many accesses more are looked at, and then none until this is called again.
  void look_at(std::int64_t accesses);
  [[nodiscard]] bool has_looked_away() const { return accesses_ >= last_access_; }
  /// Something may have written to all memory of the device that nobody saw.
  void expose();
  /// While a thread of a kernel runs that may be watched.
  static RaceDetector* watching() { return watching_; }

  struct Newly {
    bool unwritten = false, exposed = false, managed = false, mapped = false;
  };
  void watch(const void* data, std::size_t bytes, const std::string& what, Newly made);
  void forget(const void* data);

  // The host's order
  [[nodiscard]] OperationOrder issue(std::span<const OperationOrder* const> earlier);
  void host_waits_for(const OperationOrder& operation) { host_.wait_for(operation); }
  void host_waits_for_all() { host_.wait_for_all(); }

  // Operations, as they run
  void begin_operation(const OperationOrder& operation) {
    operation_ = &operation;
    executing_ = nullptr;
  }
  /// By the present operation, which is no kernel: "a copy". `site`: where it was issued, or 0.
  void access(const std::string& what, const void* data, std::size_t bytes, bool writes,
              std::uint64_t site = 0);
  /// A copy has filled so much from the beginning of the memory at `to`.
  void note_copy(const void* to, std::size_t bytes, std::uint64_t site);
  void begin_kernel(const void* function, dim3 grid, dim3 cluster, dim3 block);
  /// `rank`: cluster by cluster.
  [[nodiscard]] std::unique_ptr<BlockRaces> begin_block(std::size_t rank, std::size_t threads,
                                                        std::span<const std::byte> shared);
  /// From now on nobody may touch its shared memory.
  void end_block(BlockRaces& block);
  /// Gives back what is kept for cells.
  void release_cells(Watched& watched);
  /// Which thread runs; null: the runtime does, or the host.
  void run(BlockRaces* block, int thread) {
    if (!written_.empty()) {
      look_at_written();
    }
    watching_ = block == nullptr || accesses_ >= last_access_ ? nullptr : this;
    block_ = block;
    thread_ = block == nullptr ? nullptr : &block->threads[static_cast<std::size_t>(thread)];
  }

  // By the thread that runs
  void access(const void* data, std::size_t bytes, bool writes, std::uint64_t site) {
    access_memory(reinterpret_cast<std::uintptr_t>(data), bytes,
                  {site, Scope::thread, writes, false});
  }
  void access_atomically(const void* data, std::size_t bytes, const detail::AtomicAccess& access,
                         std::uint64_t site);
  /// Does it lie in memory that other blocks see?
  [[nodiscard]] bool is_global(const void* data) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const auto after = memory_.upper_bound(address);
    return after != memory_.begin() && std::prev(after)->second.holds(address);
  }
  void fence(Scope scope);

  /// Found since the last call; reads of what nobody has written, too.
  [[nodiscard]] std::vector<Finding> take_races();
  /// Accesses of memory that has a shadow.
  [[nodiscard]] std::int64_t accesses() const { return accesses_; }
  /// Of kernels since the last call.
  [[nodiscard]] KernelTraffic take_traffic() { return std::exchange(traffic_, {}); }
  /// Bytes of managed memory that have moved to the device and to the host.
  [[nodiscard]] const std::array<std::int64_t, 2>& migrated() const { return migrated_; }
  /// The host touches this memory, or has it brought to the device: if it is managed.
  void move_managed(const void* data, std::size_t bytes, bool to_device);

 private:
  struct Access {
    std::uint64_t site;
    Scope scope; ///< of an atomic access
    bool writes;
    bool first_reads; ///< and writes then
    [[nodiscard]] bool reads() const { return !writes || first_reads; }
  };
  /// Reads by some of 64 threads of a block in one epoch, from one line.
  struct Reads {
    Stamp first; ///< its thread: the first of the 64
    std::uint64_t threads;
  };
  struct ReadSet {
    std::vector<Reads> reads;
    std::size_t tidy_at = 0; ///< how many reads make it worth while
  };
  /// What has run. Its blocks have the numbers from `first` on.
  struct Executed {
    std::uint32_t first;
    std::uint32_t chain, position; ///< of the operation
    std::string what;              ///< but a kernel
    std::uint64_t site = 0;        ///< where it was issued, but a kernel
    const void* kernel = nullptr;
    dim3 grid{}, cluster{}, block{};
  };
  struct Race {
    Stamp earlier, later;
    bool earlier_writes, later_writes;
    std::string where;
    std::uint64_t guess; ///< a plain read beside an atomic access; 0: none
  };

  struct Conflict {
    Stamp earlier, later;
    bool earlier_writes, later_writes;
    std::uintptr_t address;
    const Watched* memory;
    [[nodiscard]] std::array<std::uint64_t, 3> lines() const;
  };

  void access_memory(std::uintptr_t address, std::size_t bytes, const Access& access);
  void count(std::uintptr_t address, std::size_t bytes, const Access& access);
  void move_pages(Watched& managed, std::uintptr_t address, std::size_t bytes,
                  Watched::Place place);
  Watched* find(std::uintptr_t address);
  /// `stays`: the cell is where it is until the thread goes on.
  void access_cell(Cell& cell, const Access& access, bool stays);
  void access_bytes(Cell& cell, std::size_t first, std::size_t end, const Access& access);
  void check_reads(const Cell& cell, const Access& access);
  void note_read(Cell& cell, const Stamp& read);
  void note_read(ReadSet& set, const Stamp& read);
  Stamp keep_reads(const ReadSet& reads);
  void release_reads(Cell& cell);
  [[nodiscard]] Stamp stamp(const Access& access) const;
  /// Two atomic accesses are no race where each has a scope that includes the other's thread.
  [[nodiscard]] bool both_atomic(const Stamp& earlier, const Access& access) const;
  /// Does the running thread come after the earlier operation that the block belongs to?
  [[nodiscard]] bool follows_operation(std::uint32_t block) const;
  /// And after that epoch of another thread?
  [[nodiscard]] bool follows(std::uint32_t block, std::uint64_t thread, std::uint32_t epoch) const;
  [[nodiscard]] bool follows(const Reads& reads) const;
  [[nodiscard]] bool includes(Scope scope, std::uint32_t block) const;
  void report(Stamp earlier, bool earlier_writes, const Access& access);
  void report(const Conflict& conflict);
  /// Of a program a write that leaves what is there is no race, but a read.
  [[nodiscard]] bool written_next(const Access& access) const;
  void add_written(const Conflict& conflict, Cell* cell);
  void look_at_written();
  Executed& execute(std::uint32_t blocks);
  [[nodiscard]] const Executed& executed(std::uint32_t block) const;
  [[nodiscard]] uint3 block_index(std::uint32_t block) const;
  [[nodiscard]] uint3 thread_index(const Stamp& access) const;
  /// Without the kernel, if that is what was described before.
  [[nodiscard]] CodeLine code_line(const Stamp& access) const;
  [[nodiscard]] std::optional<KernelThread> kernel_thread(const Stamp& access) const;
  /// Is it what fresh memory holds?
  [[nodiscard]] bool still_fresh() const;
  void report_unwritten_read(const Access& access);
  [[nodiscard]] std::string memory_name(const Watched& memory) const;
  [[nodiscard]] std::string describe(const Stamp& access, bool writes,
                                     const Executed* before) const;

  // Constants at the start of the program: its other initialization is watched code, too. So may be
  // what other threads of the host do while this one runs a kernel.
  static inline bool enabled_ = false;
  static inline bool strict_ = false;
  static inline bool counts_traffic_ = false;
  static inline constinit thread_local RaceDetector* watching_ = nullptr;
  BlockRaces* block_ = nullptr;
  ThreadOrder* thread_ = nullptr;
  Watched* watched_ = nullptr; ///< with `address_`: what is being accessed
  std::uintptr_t address_ = 0;
  std::int64_t accesses_ = 0;
  std::int64_t last_access_ = std::numeric_limits<std::int64_t>::max();
  KernelTraffic traffic_;
  std::array<std::int64_t, 2> migrated_{};

  HostOrder host_;
  const OperationOrder* operation_ = nullptr;
  const OperationOrder* executing_ = nullptr; ///< the operation that executed_.back() belongs to
  std::vector<Executed> executed_;
  std::uint32_t next_block_ = 1;
  std::uint32_t first_block_ = 0; ///< of what runs
  std::uint32_t cluster_blocks_ = 1;
  std::unique_ptr<BlockRaces> copier_; ///< does what operations other than kernels do

  std::map<std::uintptr_t, Watched> memory_;
  struct Found {
    std::uintptr_t page;
    Watched* watched;
  };
  std::array<Found, 1024> found_{}; ///< what find() found last, by page
  std::vector<ReadSet> read_sets_;
  std::vector<std::uint32_t> free_read_sets_;
  std::vector<std::array<Cell, 4>> bytes_;
  std::vector<std::uint32_t> free_bytes_;
  /// What the values of atomic accesses carry, by address.
  std::unordered_map<std::uintptr_t, std::vector<Release>> releases_;
  std::unordered_map<std::uintptr_t, std::int64_t>
      atomic_writes_; // to global memory, of this kernel

  std::set<std::array<std::uint64_t, 3>> reported_;
  std::vector<Race> races_;
  struct Written {
    Conflict conflict;
    std::size_t bytes;
    std::uint32_t before = 0;
    Cell* cell; ///< that keeps it; null: it is a conflict
  };
  std::vector<Written> written_; ///< is written next
  /// Plain reads whose values atomicCAS() was then told: it writes only if they still hold.
  std::set<std::uint64_t> guesses_;
  std::set<std::pair<std::uintptr_t, std::uint64_t>> reported_reads_;
  std::vector<Finding> found_reads_;
  struct ShortCopy {
    std::size_t bytes;
    std::uint64_t site;
  };
  std::map<std::uintptr_t, ShortCopy> short_copies_; ///< of those that did not fill the memory
};

/// The one there is.
RaceDetector& race_detector();
/// Forgets everything.
void reset_race_detector();

} // namespace diffbench::emulation
