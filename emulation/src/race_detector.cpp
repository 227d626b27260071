// SPDX-License-Identifier: Apache-2.0
#include "race_detector.hpp"

#include "canary.hpp"
#include "cluster.hpp"
#include "code_site.hpp"
#include "foreign_access.hpp"
#include "kernel_name.hpp"
#include "program.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace diffbench::emulation {
namespace {

constexpr std::size_t word = 4;
constexpr std::size_t page_bytes = 4096; // of managed memory
constexpr std::size_t most_races = 200;  // each of another pair of lines
constexpr std::uint32_t beginning = 0;   // the epoch before a block's threads'

std::unique_ptr<RaceDetector>& the_detector() {
  static auto& detector = *new auto(std::make_unique<RaceDetector>());
  return detector;
}

std::size_t blocks_in(dim3 shape) { return std::size_t{shape.x} * shape.y * shape.z; }

bool same_time(const Stamp& a, const Stamp& b) { return a.block == b.block && a.epoch == b.epoch; }

/// Makes an element free for another use: a number that take() returns again.
template <typename T>
std::uint32_t take(std::vector<T>& pool, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    pool.emplace_back();
    return static_cast<std::uint32_t>(pool.size() - 1);
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  return number;
}

Stamp elsewhere(std::uint32_t number) {
  Stamp stamp{};
  stamp.divided = 1;
  stamp.block = ~std::uint32_t{0};
  stamp.epoch = number;
  return stamp;
}

/// What a value carries from now on. Those of a wide scope are for everyone, so one will do.
void add_release(std::vector<Release>& releases, const Release& release) {
  for (Release& earlier : releases) {
    if (earlier.scope == release.scope &&
        (earlier.block == release.block || release.scope >= Scope::device)) {
      auto both = std::make_shared<Clock>(*earlier.clock);
      both->join(*release.clock);
      earlier.clock = std::move(both);
      return;
    }
  }
  releases.push_back(release);
}

} // namespace

RaceDetector& race_detector() { return *the_detector(); }

void reset_race_detector() { the_detector() = std::make_unique<RaceDetector>(); }

void Watched::watch(const void* data, std::size_t size) {
  begin = reinterpret_cast<std::uintptr_t>(data);
  bytes = size;
  // Large memory is zero without being touched.
  cells.reset(static_cast<Cell*>(std::calloc(cell_count(), sizeof(Cell))));
  if (cells == nullptr) {
    throw std::bad_alloc();
  }
}

BlockRaces::BlockRaces(std::uint32_t number, std::size_t thread_count)
    : threads(thread_count), last_reads(thread_count) {
  std::uint16_t rank = 0;
  for (ThreadOrder& thread : threads) {
    thread.block = number;
    thread.thread = rank++;
    all.push_back(&thread);
  }
  shared.block = number;
}

BlockRaces::~BlockRaces() {
  race_detector().release_cells(shared);
  for (Watched& variable : statics) {
    race_detector().release_cells(variable);
  }
}

void BlockRaces::watch_static(std::span<const std::byte> memory) {
  statics.emplace_back().watch(memory.data(), memory.size());
  statics.back().unwritten = true;
  statics.back().block = shared.block;
}

Watched* BlockRaces::find(std::uintptr_t address) {
  if (shared.holds(address)) {
    return &shared;
  }
  for (Watched& variable : statics) {
    if (variable.holds(address)) {
      return &variable;
    }
  }
  return nullptr;
}

// Memory

void RaceDetector::watch(const void* data, std::size_t bytes, const std::string& what, Newly made) {
  if (!enabled_) {
    return;
  }
  Watched& watched = memory_[reinterpret_cast<std::uintptr_t>(data)];
  watched.watch(data, bytes);
  watched.what = what;
  watched.unwritten = made.unwritten;
  watched.exposed = made.exposed;
  watched.mapped = made.mapped;
  watched.touched.resize(counts_traffic_ ? bytes / sector_bytes + 2 : 0);
  watched.pages.resize(made.managed ? bytes / page_bytes + 1 : 0);
  found_ = {};
}

void RaceDetector::forget(const void* data) {
  const auto found = memory_.find(reinterpret_cast<std::uintptr_t>(data));
  if (found != memory_.end()) {
    release_cells(found->second);
    short_copies_.erase(found->first);
    memory_.erase(found);
    found_ = {};
  }
}

Watched* RaceDetector::find(std::uintptr_t address) {
  if (Watched* const own = block_->find(address)) {
    return own;
  }
  for (BlockRaces* other : block_->cluster) {
    if (Watched* const others = other->find(address)) {
      return others;
    }
  }
  const std::uintptr_t page = address >> 12;
  Found& found = found_[page % found_.size()];
  if (found.page != page || (found.watched != nullptr && !found.watched->holds(address))) {
    found.page = page;
    const auto after = memory_.upper_bound(address);
    found.watched = after == memory_.begin() ? nullptr : &std::prev(after)->second;
    if (found.watched != nullptr && !found.watched->holds(address)) {
      // The page may hold the beginning of some memory.
      const bool shared_page = after != memory_.end() && after->first >> 12 == page;
      found.watched = nullptr;
      found.page = shared_page ? 0 : page;
    }
  }
  return found.watched;
}

void RaceDetector::release_cells(Watched& watched) {
  for (std::size_t i = 0; watched.cells != nullptr && i < watched.cell_count(); ++i) {
    Cell& cell = watched.cells[i];
    if (cell.write.divided != 0) {
      for (Cell& byte : bytes_[cell.write.epoch]) {
        release_reads(byte);
      }
      free_bytes_.push_back(cell.write.epoch);
    }
    release_reads(cell);
  }
}

// Order

OperationOrder RaceDetector::issue(std::span<const OperationOrder* const> earlier) {
  return enabled_ ? host_.issue(earlier) : OperationOrder{};
}

RaceDetector::Executed& RaceDetector::execute(std::uint32_t blocks) {
  executing_ = operation_;
  first_block_ = std::exchange(next_block_, next_block_ + blocks);
  Executed& executed = executed_.emplace_back();
  executed.first = first_block_;
  executed.chain = operation_->chain;
  executed.position = operation_->position;
  return executed;
}

const RaceDetector::Executed& RaceDetector::executed(std::uint32_t block) const {
  // Mostly of the last ones.
  std::size_t i = executed_.size() - 1;
  for (int tries = 0; executed_[i].first > block && tries < 4; ++tries) {
    --i;
  }
  if (executed_[i].first > block) {
    const auto after =
        std::upper_bound(executed_.begin(), executed_.end(), block,
                         [](std::uint32_t number, const Executed& e) { return number < e.first; });
    return *std::prev(after);
  }
  return executed_[i];
}

bool RaceDetector::follows_operation(std::uint32_t block) const {
  if (block >= first_block_) {
    return false;
  }
  const Executed& earlier = executed(block);
  return operation_->knows(earlier.chain, earlier.position);
}

bool RaceDetector::follows(std::uint32_t block, std::uint64_t thread, std::uint32_t epoch) const {
  return thread_->knows(block, static_cast<std::uint16_t>(thread), epoch) ||
         follows_operation(block);
}

bool RaceDetector::follows(const Reads& reads) const {
  for (std::uint64_t left = reads.threads; left != 0; left &= left - 1) {
    const std::uint64_t thread = reads.first.thread + static_cast<unsigned>(std::countr_zero(left));
    if (!follows(reads.first.block, thread, reads.first.epoch)) {
      return false;
    }
  }
  return true;
}

bool RaceDetector::includes(Scope scope, std::uint32_t block) const {
  const std::uint32_t own = thread_->block;
  if (scope == Scope::cluster) {
    return block >= first_block_ &&
           (block - first_block_) / cluster_blocks_ == (own - first_block_) / cluster_blocks_;
  }
  return scope >= Scope::device || (scope == Scope::block && block == own);
}

// Kernels and copies

void RaceDetector::access(const std::string& what, const void* data, std::size_t bytes, bool writes,
                          std::uint64_t site) {
  if (!enabled_) {
    return;
  }
  if (executing_ != operation_) {
    Executed& copy = execute(1);
    copy.what = what;
    copy.site = site;
    copier_ = std::make_unique<BlockRaces>(first_block_, 1);
  }
  run(copier_.get(), 0);
  access(data, bytes, writes, 0);
  run(nullptr, 0);
}

void RaceDetector::begin_kernel(const void* function, dim3 grid, dim3 cluster, dim3 block) {
  if (!enabled_) {
    return;
  }
  Executed& kernel = execute(static_cast<std::uint32_t>(blocks_in(grid)));
  kernel.kernel = function;
  kernel.grid = grid;
  kernel.cluster = cluster;
  kernel.block = block;
  cluster_blocks_ = static_cast<std::uint32_t>(blocks_in(cluster));
  releases_.clear(); // kernels do not overlap here
  atomic_writes_.clear();
}

std::unique_ptr<BlockRaces> RaceDetector::begin_block(std::size_t rank, std::size_t threads,
                                                      std::span<const std::byte> shared) {
  if (!enabled_) {
    return nullptr;
  }
  auto block =
      std::make_unique<BlockRaces>(first_block_ + static_cast<std::uint32_t>(rank), threads);
  if (shared.empty()) {
    return block;
  }
  block->shared.watch(shared.data(), shared.size());
  block->shared.unwritten = true;
  if (cluster_blocks_ > 1) { // others may touch it once they know that the block has begun
    for (std::size_t i = 0; i < block->shared.cell_count(); ++i) {
      block->shared.cells[i].write.block = block->shared.block;
      block->shared.cells[i].write.epoch = beginning;
    }
  }
  return block;
}

void RaceDetector::end_block(BlockRaces& block) {
  traffic_.card.add({.asked = {}, .distinct = {}, .moved = block.sectors.moved()});
  traffic_.mapped.add({.asked = {}, .distinct = {}, .moved = block.mapped_sectors.moved()});
  if (block.cluster.empty()) {
    return;
  }
  meet_in_blocks(block.all);
  run(&block, 0);
  access(reinterpret_cast<const void*>(block.shared.begin), block.shared.bytes, true, 0);
  run(nullptr, 0);
}

// Accesses

void RaceDetector::access_memory(std::uintptr_t address, std::size_t bytes, const Access& access) {
  if (!written_.empty()) {
    look_at_written();
  }
  watched_ = find(address);
  if (watched_ == nullptr || address + bytes > watched_->begin + watched_->bytes) {
    if (strict_ && executed_.back().kernel != nullptr) {
      RaceDetector* const self = std::exchange(watching_, nullptr);
      check_foreign_access(reinterpret_cast<const void*>(address), bytes, access.writes,
                           access.site);
      watching_ = self;
    }
    if (watched_ == nullptr) {
      return;
    }
  }
  RaceDetector* const self = std::exchange(watching_, nullptr); // copies made here are not watched
  ++accesses_;
  if (watched_->what.empty()) {
    const bool by_code = access.site != 0;
    traffic_.shared_written += access.writes && by_code ? static_cast<std::int64_t>(bytes) : 0;
  } else if (block_ != copier_.get()) {
    count(address, bytes, access);
  }
  if (!access.writes && access.scope == Scope::thread) {
    auto& reads = block_->last_reads[thread_->thread];
    std::rotate(reads.begin(), reads.end() - 1, reads.end());
    reads.front() = {address, access.site};
  }
  const std::uintptr_t origin = watched_->begin / word * word;
  const std::uintptr_t end = std::min(address + bytes, watched_->begin + watched_->bytes);
  for (address_ = address; address_ < end;) {
    const std::size_t index = (address_ - origin) / word;
    const std::uintptr_t cell_begin = origin + index * word;
    const std::uintptr_t stop = std::min(end, cell_begin + word);
    Cell& cell = watched_->cells[index];
    if (stop - address_ == word && cell.write.divided == 0) {
      access_cell(cell, access, /*stays=*/true);
    } else {
      access_bytes(cell, address_ - cell_begin, stop - cell_begin, access);
    }
    address_ = stop;
  }
  watching_ = accesses_ < last_access_ ? self : nullptr;
}

void RaceDetector::look_at(std::int64_t accesses) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  last_access_ = accesses == all ? all : accesses_ + accesses;
}

void RaceDetector::expose() {
  for (auto& [begin, watched] : memory_) {
    watched.exposed = true;
  }
}

bool RaceDetector::still_fresh() const {
  std::uint32_t held = 0;
  if (address_ % word != 0 || address_ + word > watched_->begin + watched_->bytes) {
    return false;
  }
  std::memcpy(&held, reinterpret_cast<const void*>(address_), word);
  return held == unlikely_poison;
}

// Of global or page-locked memory, by a kernel.
void RaceDetector::count(std::uintptr_t address, std::size_t bytes, const Access& access) {
  Traffic& traffic = watched_->mapped ? traffic_.mapped : traffic_.card;
  WarpSectors& sectors = watched_->mapped ? block_->mapped_sectors : block_->sectors;
  for (const bool writes : {false, true}) {
    if (writes ? !access.writes : !access.reads()) {
      continue;
    }
    const std::size_t way = writes ? 1 : 0;
    traffic.asked[way] += static_cast<std::int64_t>(bytes);
    if (watched_->touched.empty()) {
      continue;
    }
    const std::uintptr_t origin = watched_->begin / sector_bytes;
    for (std::uintptr_t sector = address / sector_bytes;
         sector <= (address + bytes - 1) / sector_bytes; ++sector) {
      const std::size_t index =
          std::min<std::size_t>(sector - origin, watched_->touched.size() - 1);
      std::uint32_t& last = watched_->touched[index][way];
      traffic.distinct[way] +=
          std::exchange(last, first_block_) == first_block_ ? 0 : std::int64_t{sector_bytes};
    }
    sectors.note(thread_->thread, access.site, address, bytes, writes);
  }
  move_pages(*watched_, address, bytes, Watched::Place::device);
}

// What nobody has touched before is made where it is touched.
void RaceDetector::move_pages(Watched& managed, std::uintptr_t address, std::size_t bytes,
                              Watched::Place place) {
  const std::size_t end =
      std::min(managed.pages.size() * page_bytes, address + bytes - managed.begin);
  for (std::size_t at = (address - managed.begin) / page_bytes; at * page_bytes < end; ++at) {
    const Watched::Place before = std::exchange(managed.pages[at], place);
    if (before != place && before != Watched::Place::nowhere) {
      migrated_[place == Watched::Place::device ? 0 : 1] +=
          static_cast<std::int64_t>(std::min(page_bytes, managed.bytes - at * page_bytes));
    }
  }
}

void RaceDetector::move_managed(const void* data, std::size_t bytes, bool to_device) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto after = memory_.upper_bound(address);
  if (after != memory_.begin() && std::prev(after)->second.holds(address)) {
    move_pages(std::prev(after)->second, address, bytes,
               to_device ? Watched::Place::device : Watched::Place::host);
  }
}

void RaceDetector::access_bytes(Cell& cell, std::size_t first, std::size_t end,
                                const Access& access) {
  if (cell.write.divided == 0) {
    const std::uint32_t number = take(bytes_, free_bytes_);
    bytes_[number].fill(cell);
    if (cell.read.divided != 0) {
      const ReadSet reads = read_sets_[cell.read.epoch];
      for (std::size_t i = 1; i < word; ++i) {
        bytes_[number][i].read = keep_reads(reads);
      }
    }
    cell = {};
    cell.write = elsewhere(number);
  }
  for (std::size_t i = first; i < end; ++i) {
    access_cell(bytes_[cell.write.epoch][i], access, /*stays=*/false);
  }
}

Stamp RaceDetector::stamp(const Access& access) const {
  Stamp stamp{};
  stamp.site = access.site & ((std::uint64_t{1} << 48) - 1);
  stamp.thread = thread_->thread & 1023u;
  stamp.scope = static_cast<unsigned>(access.scope) & 7u;
  stamp.block = thread_->block;
  stamp.epoch = thread_->epoch;
  return stamp;
}

bool RaceDetector::both_atomic(const Stamp& earlier, const Access& access) const {
  const auto scope = static_cast<Scope>(earlier.scope);
  return scope != Scope::thread && access.scope != Scope::thread &&
         includes(std::min(scope, access.scope), earlier.block);
}

void RaceDetector::access_cell(Cell& cell, const Access& access, bool stays) {
  const Stamp now = stamp(access);
  // Again, before anyone could know of the first time.
  const Stamp& last = access.writes ? cell.write : cell.read;
  if (same_time(last, now) && last.thread == now.thread && last.scope == now.scope &&
      (!access.writes || cell.read.block == 0)) {
    return;
  }
  const Stamp& write = cell.write;
  if (write.block == 0 && strict_ && watched_->unwritten && access.reads() &&
      (!watched_->exposed || still_fresh())) {
    report_unwritten_read(access);
  }
  if (write.block != 0 && is_program() && block_ == copier_.get() && !access.writes &&
      still_fresh()) {
    note_fresh_result(); // somebody has written what nobody had
  }
  if (write.block != 0 && !follows(write.block, write.thread, write.epoch) &&
      !both_atomic(write, access)) {
    report(write, true, access);
  }
  if (!access.writes) {
    note_read(cell, now);
    return;
  }
  check_reads(cell, access);
  if (stays && write.block != 0 && written_next(access)) {
    add_written({{}, now, {}, true, address_, watched_}, &cell);
    return;
  }
  release_reads(cell);
  cell.write = now;
}

void RaceDetector::check_reads(const Cell& cell, const Access& access) {
  if (cell.read.block == 0) {
    return;
  }
  if (cell.read.divided == 0) {
    if (!follows(cell.read.block, cell.read.thread, cell.read.epoch) &&
        !both_atomic(cell.read, access)) {
      report(cell.read, false, access);
    }
    return;
  }
  for (const Reads& reads : read_sets_[cell.read.epoch].reads) {
    if (follows_operation(reads.first.block)) {
      continue; // all of them
    }
    for (std::uint64_t left = reads.threads; left != 0; left &= left - 1) {
      Stamp read = reads.first;
      read.thread = (read.thread + static_cast<unsigned>(std::countr_zero(left))) & 1023u;
      if (!follows(read.block, read.thread, read.epoch) && !both_atomic(read, access)) {
        report(read, false, access);
        return;
      }
    }
  }
}

// A read that comes after another takes its place: whoever comes after it comes after both.
// (Not a plain one's that is atomic, as that may be forgiven.)
void RaceDetector::note_read(Cell& cell, const Stamp& read) {
  const Stamp& last = cell.read;
  if (last.divided != 0) {
    note_read(read_sets_[last.epoch], read);
  } else if (last.block == 0 || ((last.scope != 0 || read.scope == 0) &&
                                 follows(last.block, last.thread, last.epoch))) {
    cell.read = read;
  } else {
    const std::uint32_t number = take(read_sets_, free_read_sets_);
    ReadSet& set = read_sets_[number];
    set.reads.clear(); // and keep their memory
    set.tidy_at = 8;
    note_read(set, last);
    note_read(set, read);
    cell.read = elsewhere(number);
  }
}

void RaceDetector::note_read(ReadSet& set, const Stamp& read) {
  const std::uint64_t bit = std::uint64_t{1} << read.thread % 64;
  // Mostly one of the last.
  const auto alike = std::find_if(set.reads.rbegin(), set.reads.rend(), [&](const Reads& reads) {
    return same_time(reads.first, read) && reads.first.site == read.site &&
           reads.first.thread == read.thread / 64 * 64 && reads.first.scope == read.scope;
  });
  if (alike != set.reads.rend()) {
    alike->threads |= bit;
    return;
  }
  if (set.reads.size() >= set.tidy_at) {
    std::erase_if(set.reads, [&](const Reads& reads) {
      return (reads.first.scope != 0 || read.scope == 0) && follows(reads);
    });
    set.tidy_at = std::max<std::size_t>(8, 2 * set.reads.size());
  }
  set.reads.push_back({read, bit});
  set.reads.back().first.thread = read.thread / 64 * 64 & 1023u;
}

Stamp RaceDetector::keep_reads(const ReadSet& reads) {
  const std::uint32_t number = take(read_sets_, free_read_sets_);
  read_sets_[number] = reads;
  return elsewhere(number);
}

void RaceDetector::release_reads(Cell& cell) {
  if (cell.read.divided != 0) {
    free_read_sets_.push_back(cell.read.epoch);
  }
  cell.read = {};
}

// Atomic accesses and fences. What a store or a fence releases, and who acquires it: PTX ISA,
// "Memory Consistency Model", release and acquire patterns. Scopes must include each other.

void RaceDetector::access_atomically(const void* data, std::size_t bytes,
                                     const detail::AtomicAccess& access, std::uint64_t site) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto scope = static_cast<Scope>(access.scope);
  access_memory(address, bytes, {site, scope, access.writes, access.reads});
  for (const BlockRaces::PlainRead& read : block_->last_reads[thread_->thread]) {
    if (access.compares && read.address == address) {
      guesses_.insert(read.site);
    }
  }
  std::vector<Release>& releases = releases_[address];
  for (const Release& release : releases) {
    if (access.reads && includes(std::min(scope, release.scope), release.block)) {
      // In NVIDIA's own programs (threadFenceReduction) no fence follows atomicInc().
      if (access.acquires || (access.writes && is_program())) {
        thread_->learn(release.clock);
      } else {
        thread_->see({std::min(scope, release.scope), release.block, release.clock});
      }
    }
  }
  if (!access.writes) {
    return;
  }
  if (access.reads && watched_ != nullptr && !watched_->what.empty()) {
    traffic_.queued_atomics = std::max(traffic_.queued_atomics, ++atomic_writes_[address]);
  }
  if (!access.reads) { // another value
    releases.clear();
  }
  if (access.releases) {
    add_release(releases, {scope, thread_->block, thread_->release()});
  }
  for (const Scope fence : {Scope::block, Scope::cluster, Scope::device, Scope::system}) {
    if (const ClockPtr& released = thread_->fences[static_cast<std::size_t>(fence)]) {
      add_release(releases, {std::min(scope, fence), thread_->block, released});
    }
  }
}

void RaceDetector::fence(Scope scope) {
  for (const Release& release : thread_->seen) {
    if (includes(std::min(scope, release.scope), release.block)) {
      thread_->learn(release.clock);
    }
  }
  const ClockPtr released = thread_->release();
  for (std::size_t i = 0; i <= static_cast<std::size_t>(scope); ++i) {
    thread_->fences[i] = released;
  }
}

// Reports

void RaceDetector::report(Stamp earlier, bool earlier_writes, const Access& access) {
  const Conflict conflict{earlier,       stamp(access), earlier_writes,
                          access.writes, address_,      watched_};
  if (reported_.contains(conflict.lines())) {
    return;
  }
  if (written_next(access)) {
    add_written(conflict, nullptr);
  } else {
    report(conflict);
  }
}

bool RaceDetector::written_next(const Access& access) const {
  return is_program() && access.writes && access.scope == Scope::thread && block_ != copier_.get();
}

void RaceDetector::add_written(const Conflict& conflict, Cell* cell) {
  const std::size_t bytes = std::min(word, watched_->begin + watched_->bytes - address_);
  written_.push_back({conflict, bytes, 0, cell});
  std::memcpy(&written_.back().before, reinterpret_cast<const void*>(address_), bytes);
}

void RaceDetector::look_at_written() {
  for (const auto& [conflict, bytes, before, cell] : written_) {
    const bool changed =
        std::memcmp(reinterpret_cast<const void*>(conflict.address), &before, bytes) != 0;
    if (cell == nullptr && changed) {
      report(conflict);
    } else if (cell != nullptr && changed) {
      release_reads(*cell);
      cell->write = conflict.later;
    } else if (cell != nullptr) {
      note_read(*cell, conflict.later);
    }
  }
  written_.clear();
}

std::array<std::uint64_t, 3> RaceDetector::Conflict::lines() const {
  const auto place = [](const Stamp& s) { return s.site != 0 ? s.site : std::uint64_t{s.block}; };
  return {place(earlier), place(later), earlier_writes};
}

void RaceDetector::report(const Conflict& conflict) {
  if (reported_.size() >= most_races || !reported_.insert(conflict.lines()).second) {
    return;
  }
  const auto& [earlier, later, earlier_writes, later_writes, address, memory] = conflict;
  const bool earlier_guesses = !earlier_writes && earlier.scope == 0 && later.scope != 0;
  const bool later_guesses = !later_writes && later.scope == 0 && earlier.scope != 0;
  races_.push_back(
      {earlier, later, earlier_writes, later_writes,
       "byte " + std::to_string(address - memory->begin) + " of " + memory_name(*memory),
       earlier_guesses ? std::uint64_t{earlier.site}
       : later_guesses ? std::uint64_t{later.site}
                       : 0});
}

uint3 RaceDetector::thread_index(const Stamp& access) const {
  const dim3& shape = executed(access.block).block;
  const auto rank = static_cast<unsigned>(access.thread);
  return {rank % shape.x, rank / shape.x % shape.y, rank / shape.x / shape.y};
}

uint3 RaceDetector::block_index(std::uint32_t block) const {
  const Executed& kernel = executed(block);
  const auto rank = block - kernel.first;
  const auto size = static_cast<std::uint32_t>(blocks_in(kernel.cluster));
  return emulation::block_index(kernel.grid, kernel.cluster, rank / size, rank % size);
}

std::string RaceDetector::describe(const Stamp& access, bool writes, const Executed* before) const {
  const Executed& by = executed(access.block);
  const std::string verb = writes ? " writes" : " reads";
  if (by.kernel == nullptr) {
    return by.what + (by.site != 0 ? " at " + line_of(by.site) : "") + verb;
  }
  const std::string block = (&by == before ? "block " : kernel_name(by.kernel) + ", block ") +
                            triple(block_index(access.block));
  if (access.site == 0) {
    return block + (access.epoch == beginning ? " begins" : " returns");
  }
  return block + ", thread " + triple(thread_index(access)) + verb +
         (access.scope != 0 ? " atomically" : "") + " at " + line_of(access.site);
}

CodeLine RaceDetector::code_line(const Stamp& access) const {
  const std::uint64_t copy = executed(access.block).site;
  return code_line_of(access.site != 0 ? access.site : copy);
}

std::optional<KernelThread> RaceDetector::kernel_thread(const Stamp& access) const {
  const Executed& by = executed(access.block);
  if (by.kernel == nullptr) {
    return std::nullopt;
  }
  return KernelThread{kernel_name(by.kernel), block_index(access.block), thread_index(access)};
}

std::vector<Finding> RaceDetector::take_races() {
  std::vector<Finding> found = std::exchange(found_reads_, {});
  for (const Race& race : std::exchange(races_, {})) {
    if (race.guess != 0 && guesses_.contains(race.guess)) {
      continue;
    }
    found.push_back(
        {.kind = FindingKind::race,
         .message = "race on " + race.where + ": " +
                    describe(race.later, race.later_writes, nullptr) +
                    ", and nothing orders it with: " +
                    describe(race.earlier, race.earlier_writes, &executed(race.later.block)),
         .at = code_line(race.later),
         .by = kernel_thread(race.later),
         .other = code_line(race.earlier)});
  }
  return found;
}

// Reads of what nobody has written

void RaceDetector::report_unwritten_read(const Access& access) {
  const Stamp now = stamp(access);
  const std::uint64_t site = now.site != 0 ? now.site : executed(now.block).site;
  if (!reported_reads_.insert({watched_->begin, site}).second) {
    return;
  }
  Finding finding{.kind = FindingKind::uninitialized,
                  .message = describe(now, false, nullptr) + " byte " +
                             std::to_string(address_ - watched_->begin) + " of " +
                             memory_name(*watched_) + ", which nobody has written",
                  .at = code_line(now),
                  .by = kernel_thread(now),
                  .unwritten = true};
  const auto copied = short_copies_.find(watched_->begin);
  if (copied != short_copies_.end() && address_ >= watched_->begin + copied->second.bytes) {
    finding.kind = FindingKind::copy_size;
    finding.other = std::exchange(finding.at, code_line_of(copied->second.site));
    finding.message = "the copy to " + watched_->what + " filled " +
                      std::to_string(copied->second.bytes) + " bytes of it; " + finding.message;
  }
  found_reads_.push_back(std::move(finding));
}

void RaceDetector::note_copy(const void* to, std::size_t bytes, std::uint64_t site) {
  const auto found = memory_.find(reinterpret_cast<std::uintptr_t>(to));
  if (strict_ && found != memory_.end()) {
    if (bytes < found->second.bytes) {
      short_copies_[found->first] = {bytes, site};
    } else {
      short_copies_.erase(found->first);
    }
  }
}

std::string RaceDetector::memory_name(const Watched& memory) const {
  return memory.what.empty() ? "the shared memory of block " + triple(block_index(memory.block))
                             : memory.what;
}

} // namespace diffbench::emulation
