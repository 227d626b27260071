// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

#include "block.hpp"
#include "cluster.hpp"
#include "code_site.hpp"
#include "fiber.hpp"
#include "host_watch.hpp"
#include "program.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <emulation/cluster_code.h>

namespace diffbench::emulation {

using detail::Site;
using detail::WarpCall;

/// A fiber, and the thread that it runs at present.
struct Worker {
  Worker();
  Fiber fiber;
  Thread* thread = nullptr;
};

namespace {

/// Unwinds a thread of a kernel that is given up.
struct Cancelled {};

// What the built-in variables refer to.
struct {
  uint3 thread;
  uint3 block;
  dim3 block_shape;
  dim3 grid_shape;
} built_in;

std::string place_of(const Thread& thread) {
  return "block " + triple(thread.block->index) + ", thread " + triple(thread.index);
}

CodeLine code_line(Site site) {
  const char* slash = std::strrchr(site.file, '/');
  return {slash != nullptr ? slash + 1 : site.file, site.line};
}

std::string line_text(Site site) {
  const CodeLine line = code_line(site);
  return line.file + ":" + std::to_string(line.line);
}

Finding finding(FindingKind kind, const std::string& message, const Thread* by = nullptr,
                const CodeLine& at = {}) {
  Finding found{.kind = kind, .message = message, .at = at};
  if (by != nullptr) {
    found.by = KernelThread{{}, by->block->index, by->index};
  }
  return found;
}

bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// null: nobody looks for races
ThreadOrder* order_of(const Thread& thread) {
  BlockRaces* const races = thread.block->races.get();
  return races == nullptr ? nullptr : &races->threads[static_cast<std::size_t>(thread.rank)];
}

class GridRun {
 public:
  GridRun(const GridLaunch& launch, Random& random, GridCounts& counts);

  std::optional<Finding> run();

  // From the threads:
  void work(Worker& worker);
  void arrive(Barrier& barrier, ThreadState state, Site site);
  void open(Barrier& barrier, ThreadState state, const Block& of);
  void give_mask(const Thread& asking);
  bool release_waiting();
  void arrive_at_cluster(Site site);
  void wait_for_cluster(Site site);
  void* map_shared(const void* address, unsigned rank, Site site);
  std::uint64_t meet(WarpCall call, unsigned mask, std::uint64_t value, int source, Site site);
  void yield();
  int vote(int predicate, Site site);
  [[nodiscard]] unsigned active_mask(Site site);
  [[noreturn]] void fail(FindingKind kind, const std::string& problem, const CodeLine& at = {});
  Thread& current() {
    if (loop_.plain) {
      note_waiting();
    }
    return *current_;
  }
  Block& current_block() { return loop_.plain ? *resident_.front() : *current_->block; }
  bool take_after_wait(uint3& thread);
  Barrier& grid_barrier() { return grid_barrier_; }
  bool cooperative() const { return launch_.cooperative; }
  bool running() const { return current_ != nullptr || loop_.plain; }
  const Worker* worker() const {
    return loop_.plain ? looping_ : running() ? current_->worker : nullptr;
  }

 private:
  void choose_blocks();
  void run_unwatched();
  void run_unwatched(std::size_t rank);
  void run_loop(Worker& worker);
  void note_waiting();
  void note_returned(Thread& thread);
  [[nodiscard]] bool more_begin() const {
    return in_loop_ && loop_.begun < loop_.count && !cancelled_;
  }
  Worker& idle_worker();
  Thread* pick();
  Fiber& fiber_for(Thread& thread);
  void make_current(Thread& thread);
  void leave();
  void admit();
  void begin(Block& block);
  void retire(Cluster& cluster);
  void run_to_end(Thread& thread);
  void finish(Thread& thread);
  void fail_by(const std::exception& error, Thread& thread);
  void check_shared(Block& block);
  void make_runnable(Thread& thread);
  bool complete_meeting(const Thread& thread);
  void cancel();
  Finding what_blocks() const;
  std::size_t rank_of(const Block& block) const {
    const dim3& grid = launch_.grid;
    return block.index.x +
           std::size_t{grid.x} * (block.index.y + std::size_t{grid.y} * block.index.z);
  }

  // A grid whose threads only spin would never end.
  static constexpr std::int64_t most_idle_yields = 1'000'000;
  static constexpr std::int64_t patient_yields = 20'000;
  static constexpr std::int64_t most_resident = 64; ///< blocks that wait for each other

  const GridLaunch& launch_;
  const bool waiting_ = is_program() && !launch_.run_block;
  Random& random_;
  GridCounts& counts_;
  std::size_t blocks_;
  std::vector<std::size_t> not_admitted_; ///< ranks of clusters, in shuffled order
  std::vector<bool> admitted_;            ///< blocks; empty where none was
  std::int64_t most_accesses_ = std::numeric_limits<std::int64_t>::max();
  bool watched_ = true; ///< what is admitted
  // Of a block that is not watched:
  bool in_loop_ = false;
  detail::ThreadLoop loop_;
  Worker* looping_ = nullptr; ///< whose fiber runs it
  std::int64_t thread_yields_ = 0;
  const void* yielding_ = nullptr;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<std::unique_ptr<Block>> resident_; ///< of these, those that have returned too
  std::vector<Thread*> ready_; ///< unstarted or runnable threads of resident blocks
  Barrier grid_barrier_;
  bool said_who_returned_ = false;
  Thread* current_ = nullptr;
  Fiber host_;
  std::int64_t idle_yields_ = 0;
  /// Half of the launches have a block that falls behind: what others do to its memory, or read
  /// there, then comes too early.
  bool neglects_ = false;
  std::size_t neglected_ = 0;
  bool cancelled_ = false;
  std::optional<Finding> problem_;
};

GridRun* active = nullptr;
// Fibers that no thread needs; kept from one kernel to the next.
std::vector<std::unique_ptr<Worker>> all_workers;
std::vector<Worker*> idle_workers;

GridRun::GridRun(const GridLaunch& launch, Random& random, GridCounts& counts)
    : launch_(launch),
      random_(random),
      counts_(counts),
      blocks_(std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z) {
  built_in.block_shape = launch.block;
  built_in.grid_shape = launch.grid;
  neglects_ = blocks_ > 1 && random.coin();
  neglected_ = neglects_ ? random.below(blocks_) : 0;
  choose_blocks();
}

// Which blocks are admitted, the last first.
void GridRun::choose_blocks() {
  constexpr std::size_t most_chosen = 4096; // where not all are watched
  const bool all_at_once = launch_.cooperative || count(launch_.cluster) > 1 || !launch_.run_block;
  const bool all = launch_.watched_accesses == std::numeric_limits<std::int64_t>::max();
  watched_ = launch_.watched_accesses > 0;
  if (!watched_ && !all_at_once) {
    return;
  }
  std::vector<std::size_t> ranks;
  if (all || all_at_once || blocks_ <= most_chosen) {
    ranks.resize(blocks_ / count(launch_.cluster));
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  } else {
    for (std::size_t i = 0; i < most_chosen / 2; ++i) {
      ranks.push_back(random_.below(blocks_ - 1));
      ranks.push_back(ranks.back() + 1);
    }
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  while (!ranks.empty()) {
    not_admitted_.push_back(random_.take(ranks));
  }
  if (all || all_at_once) {
    return;
  }
  most_accesses_ = race_detector().accesses() + launch_.watched_accesses;
  admitted_.resize(blocks_);
  const dim3& grid = launch_.grid;
  for (const unsigned z : {grid.z - 1, 0u}) { // the corners come first
    for (const unsigned y : {grid.y / 2, grid.y - 1, 0u}) {
      for (const unsigned x : {grid.x / 2, grid.x - 1, 0u}) {
        not_admitted_.push_back(x + std::size_t{grid.x} * (y + std::size_t{grid.y} * z));
      }
    }
  }
}

std::optional<Finding> GridRun::run() {
  const std::size_t resident = launch_.cooperative ? not_admitted_.size()
                               : waiting_          ? most_resident
                                                   : 1 + random_.below(3);
  const bool host_was_watched = std::exchange(host_is_watched, false);
  for (std::size_t i = 0; i < resident; ++i) {
    admit();
  }
  while (Thread* next = pick()) {
    Fiber::switch_to(host_, fiber_for(*next));
  }
  if (!cancelled_ && !resident_.empty()) {
    problem_ = what_blocks();
  } else if (!cancelled_ && (!watched_ || !admitted_.empty()) &&
             counts_.blocks < static_cast<std::int64_t>(blocks_)) {
    run_unwatched();
  }
  if (problem_) {
    cancel();
  }
  watch_host(host_was_watched);
  return problem_;
}

// Blocks that are not watched, one after the other: the threads of each as a loop, which a thread
// that waits leaves to another fiber.

void GridRun::run_unwatched() {
  in_loop_ = true;
  for (std::size_t i = 0; i < blocks_ && !cancelled_; ++i) {
    const std::size_t rank = runs_backwards() ? blocks_ - 1 - i : i;
    if (admitted_.empty() || !admitted_[rank]) {
      run_unwatched(rank);
    }
  }
}

void GridRun::run_unwatched(std::size_t rank) {
  if (resident_.empty()) {
    clusters_.push_back(std::make_unique<Cluster>());
    resident_.push_back(std::make_unique<Block>(uint3{}, launch_.block, launch_.shared_bytes));
    resident_.front()->cluster = clusters_.front().get();
    clusters_.front()->blocks.push_back(resident_.front().get());
  }
  Block& block = *resident_.front();
  block.begin_again(block_index(launch_.grid, {1, 1, 1}, static_cast<unsigned>(rank), 0));
  ++counts_.blocks;
  built_in.block = block.index;
  loop_ = {
      .shape = launch_.block, .count = static_cast<unsigned>(block.threads.size()), .plain = true};
  Worker& worker = idle_worker();
  worker.thread = nullptr;
  Fiber::switch_to(host_, worker.fiber);
  if (!cancelled_ && !loop_.plain && block.finished < block.threads.size()) {
    problem_ = what_blocks();
    cancelled_ = true;
  }
  loop_.plain = false;
  if (!cancelled_) {
    check_shared(block);
  }
  if (past_deadline()) {
    end_program();
  }
}

void GridRun::run_loop(Worker& worker) {
  looping_ = &worker;
  try {
    launch_.run_block(loop_, built_in.thread);
  } catch (const Cancelled&) {
    worker.thread->state = ThreadState::finished;
  } catch (const std::exception& error) {
    fail_by(error, current());
  }
}

// A thread of the loop waits, or is asked for: those before it have returned.
void GridRun::note_waiting() {
  loop_.plain = false;
  Block& block = *resident_.front();
  block.touched = true;
  block.finished = loop_.begun - 1;
  for (std::size_t i = 0; i < block.finished; ++i) {
    block.threads[i].state = ThreadState::finished;
    block.warps[i / 32].alive &= ~(1u << (i % 32));
  }
  current_ = &block.threads[block.finished];
  current_->state = ThreadState::runnable;
  current_->worker = looping_;
  looping_->thread = current_;
}

// The next thread of the loop, on the fiber that runs.
bool GridRun::take_after_wait(uint3& thread) {
  Worker* const worker = current_ == nullptr ? looping_ : current_->worker;
  if (current_ != nullptr) {
    note_returned(*std::exchange(current_, nullptr));
  }
  if (!more_begin()) {
    return false;
  }
  current_ = &resident_.front()->threads[loop_.begun];
  loop_.advance();
  current_->state = ThreadState::runnable;
  current_->worker = worker;
  worker->thread = current_;
  thread = current_->index;
  return true;
}

void GridRun::admit() {
  if (not_admitted_.empty()) {
    return;
  }
  const auto rank = static_cast<unsigned>(not_admitted_.back());
  not_admitted_.pop_back();
  if (!admitted_.empty()) {
    if (admitted_[rank] || race_detector().accesses() >= most_accesses_) {
      not_admitted_.resize(admitted_[rank] ? not_admitted_.size() : 0);
      admit();
      return;
    }
    admitted_[rank] = true;
  }
  clusters_.push_back(std::make_unique<Cluster>());
  Cluster& cluster = *clusters_.back();
  const dim3& shape = launch_.cluster;
  for (unsigned i = 0; i < shape.x * shape.y * shape.z; ++i) {
    resident_.push_back(std::make_unique<Block>(block_index(launch_.grid, shape, rank, i),
                                                launch_.block, launch_.shared_bytes));
    Block& block = *resident_.back();
    block.cluster = &cluster;
    cluster.blocks.push_back(&block);
    if (watched_) {
      block.races =
          race_detector().begin_block(rank * shape.x * shape.y * shape.z + i, block.threads.size(),
                                      {block.shared.data(), block.shared.size()});
    }
    for (Thread& thread : block.threads) {
      ready_.push_back(&thread);
    }
    ++counts_.blocks;
    counts_.watched_blocks += watched_ ? 1 : 0;
  }
  for (Block* block : cluster.blocks) {
    if (cluster.shared()) {
      block->shared.close(); // until it begins
    }
    for (Block* other : cluster.blocks) {
      if (block->races != nullptr && other != block) {
        block->races->cluster.push_back(other->races.get());
      }
    }
  }
}

// The first of a block's threads runs.
void GridRun::begin(Block& block) {
  if (block.shared.closed() && !block.shared.open()) {
    cancelled_ = true;
    problem_ = finding(FindingKind::race, "the shared memory of block " + triple(block.index) +
                                              " was written by another block before it had begun");
    throw Cancelled{};
  }
}

// All its blocks have returned.
void GridRun::retire(Cluster& cluster) {
  for (Block* block : cluster.blocks) {
    if (block->shared.closed() && !block->shared.open()) {
      cancelled_ = true;
      problem_ =
          finding(FindingKind::race, "the shared memory of block " + triple(block->index) +
                                         " was written by another block after it had returned");
    }
  }
  std::erase_if(resident_, [&](const auto& block) { return block->cluster == &cluster; });
  std::erase_if(clusters_, [&](const auto& one) { return one.get() == &cluster; });
  admit();
}

Thread* GridRun::pick() {
  if (cancelled_ || (ready_.empty() && (more_begin() || !release_waiting()))) {
    return nullptr;
  }
  if (in_loop_ && thread_yields_ == 0) {
    Thread* const last = ready_.back();
    ready_.pop_back();
    return last;
  }
  // Four more draws for another block than the neglected one, as long as they do more than wait.
  const bool neglects = neglects_ && idle_yields_ < patient_yields;
  for (int draws = 0; neglects && draws < 4; ++draws) {
    const std::size_t i = random_.below(ready_.size());
    if (rank_of(*ready_[i]->block) != neglected_) {
      std::swap(ready_[i], ready_.back());
      Thread* const thread = ready_.back();
      ready_.pop_back();
      return thread;
    }
  }
  return random_.take(ready_);
}

// The fiber on which `thread` goes on, or starts.
Fiber& GridRun::fiber_for(Thread& thread) {
  ++counts_.switches;
  if (thread.worker == nullptr) {
    thread.worker = &idle_worker();
    thread.worker->thread = &thread;
  }
  return thread.worker->fiber;
}

Worker& GridRun::idle_worker() {
  if (idle_workers.empty()) {
    all_workers.push_back(std::make_unique<Worker>());
    idle_workers.push_back(all_workers.back().get());
  }
  Worker* const worker = idle_workers.back();
  idle_workers.pop_back();
  return *worker;
}

void GridRun::make_current(Thread& thread) {
  current_ = &thread;
  race_detector().run(thread.block->races.get(), thread.rank);
  built_in.thread = thread.index;
  built_in.block = thread.block->index;
}

// The body of a fiber: its thread, and then others as long as the schedule picks ones that have not
// started. Returns when the fiber is wanted again.
void GridRun::work(Worker& worker) {
  Thread* thread = worker.thread;
  if (thread == nullptr) {
    run_loop(worker);
    thread = pick();
  }
  while (!in_loop_) {
    run_to_end(*thread);
    thread = pick();
    if (thread == nullptr || thread->worker != nullptr) {
      break;
    }
    thread->worker = &worker;
    worker.thread = thread;
  }
  current_ = nullptr;
  idle_workers.push_back(&worker);
  Fiber::switch_to(worker.fiber, thread == nullptr ? host_ : fiber_for(*thread));
}

void GridRun::run_to_end(Thread& thread) {
  thread.state = ThreadState::runnable;
  try {
    if (thread.block->started == 0) {
      begin(*thread.block);
    }
    ++thread.block->started;
    make_current(thread);
    launch_.run_thread();
    race_detector().run(nullptr, 0);
    finish(thread);
  } catch (const Cancelled&) {
    thread.state = ThreadState::finished;
  } catch (const std::exception& error) {
    fail_by(error, thread);
  }
}

void GridRun::fail_by(const std::exception& error, Thread& thread) {
  thread.state = ThreadState::finished;
  cancelled_ = true;
  problem_ = finding(FindingKind::kernel_fault,
                     place_of(thread) + " threw an exception: " + error.what(), &thread);
}

void GridRun::note_returned(Thread& thread) {
  thread.state = ThreadState::finished;
  idle_yields_ = 0;
  Block& block = *thread.block;
  const auto rank = static_cast<std::size_t>(thread.rank);
  Warp& warp = block.warps[rank / 32];
  warp.alive &= ~(1u << (rank % 32));
  // The others of the warp may have waited for this one only.
  for (std::size_t i = rank / 32 * 32;
       warp.waiting > 0 && i < block.threads.size() && i / 32 == rank / 32; ++i) {
    if (block.threads[i].state == ThreadState::in_warp) {
      complete_meeting(block.threads[i]);
    }
  }
  ++block.finished;
}

void GridRun::check_shared(Block& block) {
  if (!block.shared.untouched_around()) {
    cancelled_ = true;
    problem_ =
        finding(FindingKind::out_of_bounds, "block " + triple(block.index) + " wrote outside its " +
                                                std::to_string(launch_.shared_bytes) +
                                                " bytes of dynamic shared memory");
  }
}

void GridRun::finish(Thread& thread) {
  note_returned(thread);
  Block& block = *thread.block;
  if (block.finished < block.threads.size()) {
    return;
  }
  check_shared(block);
  if (block.races != nullptr) {
    race_detector().end_block(*block.races);
  }
  Cluster& cluster = *block.cluster;
  if (cluster.shared()) {
    block.shared.close();
  }
  if (++cluster.finished == cluster.blocks.size()) {
    retire(cluster);
  }
}

// Waits until someone has made the current thread runnable and the schedule picks it.
void GridRun::leave() {
  Thread& self = *current_;
  if (more_begin()) {
    Worker& other = idle_worker();
    other.thread = nullptr;
    current_ = nullptr;
    Fiber::switch_to(self.worker->fiber, other.fiber);
  } else if (Thread* next = pick(); next != &self) {
    current_ = nullptr;
    race_detector().run(nullptr, 0);
    Fiber::switch_to(self.worker->fiber, next == nullptr ? host_ : fiber_for(*next));
  }
  if (cancelled_) {
    throw Cancelled{};
  }
  make_current(self);
}

void GridRun::make_runnable(Thread& thread) {
  thread.state = ThreadState::runnable;
  if (&thread != current_) {
    ready_.push_back(&thread);
  }
}

void GridRun::yield() {
  if (in_loop_) { // nobody is in the way, unless what this thread waits for has not begun
    const void* const thread =
        loop_.plain ? static_cast<const void*>(&resident_.front()->threads[loop_.begun - 1])
                    : current_;
    thread_yields_ = std::exchange(yielding_, thread) == thread ? thread_yields_ + 1 : 0;
    constexpr std::int64_t patience = 1000;
    if (thread_yields_ < patience) {
      return;
    }
    static_cast<void>(current());
  } else if (random_.coin()) {
    return;
  }
  if (++idle_yields_ > (waiting_ ? most_resident : 1) * most_idle_yields) {
    fail(FindingKind::divergence,
         "spins for ever: what it waits for can only come from a block that is not resident, or "
         "never");
  }
  ready_.push_back(current_);
  leave();
}

void GridRun::fail(FindingKind kind, const std::string& problem, const CodeLine& at) {
  Thread& thread = current();
  cancelled_ = true;
  problem_ = finding(kind, place_of(thread) + " " + problem, &thread, at);
  throw Cancelled{};
}

void GridRun::arrive(Barrier& barrier, ThreadState state, Site site) {
  Thread& self = current();
  self.state = state;
  self.site = site;
  barrier.lines_differ |= barrier.arrived > 0 && !same(barrier.site, site);
  barrier.site = site;
  ++barrier.arrived;
  const bool of_block = state == ThreadState::at_block_barrier;
  const std::size_t expected = self.block->threads.size() * (of_block ? 1 : blocks_);
  if (barrier.arrived < expected || barrier.lines_differ) {
    leave();
    return;
  }
  open(barrier, state, *self.block);
}

void GridRun::open(Barrier& barrier, ThreadState state, const Block& of) {
  const bool of_block = state == ThreadState::at_block_barrier;
  barrier = {};
  idle_yields_ = 0;
  std::vector<ThreadOrder*> met;
  for (const auto& block : resident_) {
    if (of_block && block.get() != &of) {
      continue;
    }
    if (of_block) {
      block->vote_result = std::exchange(block->votes, 0);
    }
    for (Thread& thread : block->threads) {
      if (thread.state == state) {
        make_runnable(thread);
      }
    }
    if (block->races != nullptr) {
      met.insert(met.end(), block->races->all.begin(), block->races->all.end());
    }
  }
  meet_in_blocks(met);
}

// Nobody can run: lets those go on that need not wait. In a program where all of a block are at a
// barrier or have returned, it is said once, and they go on, as on a card.
bool GridRun::release_waiting() {
  Thread* const self = std::exchange(current_, nullptr); // it may be one of them
  for (const auto& block : resident_) {
    const auto asks =
        std::ranges::find(block->threads, ThreadState::at_active_mask, &Thread::state);
    Barrier& barrier = block->barrier;
    if (asks != block->threads.end()) {
      give_mask(*asks);
    } else if (is_program() && barrier.arrived > 0 && !barrier.lines_differ &&
               barrier.arrived + block->finished == block->threads.size()) {
      if (!std::exchange(said_who_returned_, true)) {
        runtime().report(what_blocks());
      }
      open(barrier, ThreadState::at_block_barrier, *block);
    }
  }
  current_ = self;
  return !ready_.empty();
}

// The others have to come to the next vote before its result takes the place of this one.
int GridRun::vote(int predicate, Site site) {
  Block& block = *current().block;
  block.votes += predicate != 0 ? 1 : 0;
  arrive(block.barrier, ThreadState::at_block_barrier, site);
  return block.vote_result;
}

unsigned GridRun::active_mask(Site site) {
  Thread& self = current();
  self.state = ThreadState::at_active_mask;
  self.site = site;
  leave(); // until nobody else can run
  return static_cast<unsigned>(self.value);
}

void GridRun::give_mask(const Thread& asking) {
  std::vector<Thread*> lanes;
  std::uint64_t mask = 0;
  for (Thread& lane : asking.block->threads) {
    if (lane.rank / 32 == asking.rank / 32 && lane.state == ThreadState::at_active_mask &&
        same(lane.site, asking.site)) {
      mask |= std::uint64_t{1} << lane.rank % 32;
      lanes.push_back(&lane);
    }
  }
  for (Thread* const lane : lanes) {
    lane->value = mask;
    make_runnable(*lane);
  }
}

void GridRun::arrive_at_cluster(Site site) {
  Thread& self = *current_;
  Cluster& cluster = *self.block->cluster;
  if (self.arrived) {
    fail(FindingKind::divergence,
         "arrives at the cluster barrier at " + line_text(site) +
             ", and has not waited since it last did",
         code_line(site));
  }
  self.arrived = true;
  self.phase = cluster.phase;
  Barrier& barrier = cluster.barrier;
  barrier.lines_differ |= barrier.arrived > 0 && !same(barrier.site, site);
  barrier.site = site;
  if (ThreadOrder* const order = order_of(self)) {
    cluster.order.arrive(*order);
  }
  if (++barrier.arrived < cluster.threads() || barrier.lines_differ) {
    return;
  }
  barrier = {};
  ++cluster.phase;
  cluster.order.open();
  idle_yields_ = 0;
  for (Block* block : cluster.blocks) {
    for (Thread& thread : block->threads) {
      if (thread.state == ThreadState::at_cluster_barrier) {
        make_runnable(thread);
      }
    }
  }
}

void GridRun::wait_for_cluster(Site site) {
  Thread& self = *current_;
  if (!self.arrived) {
    fail(FindingKind::divergence,
         "waits at the cluster barrier at " + line_text(site) + ", and has not arrived there",
         code_line(site));
  }
  if (self.block->cluster->phase == self.phase) {
    self.state = ThreadState::at_cluster_barrier;
    self.site = site;
    leave();
  }
  self.arrived = false;
  if (ThreadOrder* const order = order_of(self)) {
    self.block->cluster->order.wait(*order);
  }
}

void* GridRun::map_shared(const void* address, unsigned rank, Site site) {
  Block& own = *current_->block;
  const Cluster& cluster = *own.cluster;
  if (!own.shared.holds(address)) {
    fail(FindingKind::misuse,
         "maps an address at " + line_text(site) + " that is not in its block's shared memory",
         code_line(site));
  }
  if (rank >= cluster.blocks.size()) {
    fail(FindingKind::misuse,
         "maps shared memory of block " + std::to_string(rank) + " at " + line_text(site) +
             ", and its cluster has " + std::to_string(cluster.blocks.size()),
         code_line(site));
  }
  Block& other = *cluster.blocks[rank];
  if (other.finished == other.threads.size()) {
    fail(FindingKind::use_after_free,
         "maps shared memory of block " + triple(other.index) + " at " + line_text(site) +
             ", which has returned",
         code_line(site));
  }
  return other.shared.data() + (static_cast<const std::byte*>(address) - own.shared.data());
}

std::uint64_t GridRun::meet(WarpCall call, unsigned mask, std::uint64_t value, int source,
                            Site site) {
  Thread& self = current();
  if ((mask >> (self.rank % 32) & 1) == 0) {
    fail(FindingKind::divergence, "is not in the mask that it passes at " + line_text(site),
         code_line(site));
  }
  self.state = ThreadState::in_warp;
  self.call = call;
  self.mask = mask;
  self.value = value;
  self.source = source;
  self.site = site;
  ++self.block->warps[static_cast<std::size_t>(self.rank) / 32].waiting;
  if (!complete_meeting(self)) {
    leave();
  }
  return self.value;
}

// Lets the lanes that meet with `thread` go on if all of them are there: those of the mask that
// exist and have not returned.
bool GridRun::complete_meeting(const Thread& thread) {
  Block& block = *thread.block;
  const std::size_t first = static_cast<std::size_t>(thread.rank) / 32 * 32;
  Warp& warp = block.warps[first / 32];
  const unsigned lanes = thread.mask & warp.alive;
  if (warp.waiting < std::popcount(lanes)) {
    return false;
  }
  std::uint64_t given[32];
  std::uint64_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    given[lane] = ~std::uint64_t{0};
    if ((lanes >> lane & 1) == 0) {
      continue;
    }
    const Thread& other = block.threads[first + lane];
    if (other.state != ThreadState::in_warp || other.mask != thread.mask ||
        other.call != thread.call || !same(other.site, thread.site)) {
      return false;
    }
    given[lane] = other.value;
    votes |= std::uint64_t{other.value != 0} << lane;
  }
  const WarpCall call = thread.call;
  std::vector<ThreadOrder*> met;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) != 0) {
      Thread& other = block.threads[first + lane];
      // Shuffles and votes order no memory (CUDA C++ Programming Guide, "Warp Shuffle Functions").
      if (block.races != nullptr && call == WarpCall::sync) {
        met.push_back(order_of(other));
      }
      other.value = call == WarpCall::vote ? votes : given[other.source & 31];
      make_runnable(other);
    }
  }
  warp.waiting -= std::popcount(lanes);
  meet_in_warp(met);
  return true;
}

// Unwinds the threads that have begun.
void GridRun::cancel() {
  cancelled_ = true;
  for (const auto& block : resident_) {
    for (Thread& thread : block->threads) {
      if (thread.worker != nullptr && thread.state != ThreadState::finished) {
        Fiber::switch_to(host_, thread.worker->fiber);
      }
    }
  }
}

// Nothing can run, though not all have returned: finds a thread that waits and one that does not
// come.
Finding GridRun::what_blocks() const {
  const auto describe = [](const Thread& thread) -> std::string {
    switch (thread.state) {
      case ThreadState::at_block_barrier:
        return "waits at a block barrier, " + line_text(thread.site);
      case ThreadState::at_cluster_barrier:
        return "waits at a cluster barrier, " + line_text(thread.site);
      case ThreadState::at_grid_barrier:
        return "waits at a grid barrier, " + line_text(thread.site);
      case ThreadState::in_warp: return "waits for its warp at " + line_text(thread.site);
      case ThreadState::finished: return "has returned";
      default: return "can run";
    }
  };
  const Thread* waiting = nullptr;
  for (const ThreadState state : {ThreadState::at_block_barrier, ThreadState::in_warp,
                                  ThreadState::at_cluster_barrier, ThreadState::at_grid_barrier}) {
    for (const auto& block : resident_) {
      for (const Thread& thread : block->threads) {
        if (waiting == nullptr && thread.state == state) {
          waiting = &thread;
        }
      }
    }
  }
  for (const auto& block : resident_) {
    const bool of_cluster = waiting->state == ThreadState::at_cluster_barrier &&
                            block->cluster == waiting->block->cluster;
    const bool concerned = of_cluster || waiting->state == ThreadState::at_grid_barrier ||
                           block.get() == waiting->block;
    for (const Thread& thread : block->threads) {
      if (concerned && (thread.state != waiting->state || !same(thread.site, waiting->site))) {
        const bool returned = waiting->state == ThreadState::at_block_barrier &&
                              thread.state == ThreadState::finished;
        Finding found =
            finding(FindingKind::divergence,
                    "divergence: " + place_of(*waiting) + " " + describe(*waiting) + ", but " +
                        place_of(thread) + " " + describe(thread) +
                        (returned ? "; cards of compute capability 7.0 (Volta) and later "
                                    "do not wait for it, earlier ones hang"
                                  : ""),
                    waiting, code_line(waiting->site));
        if (thread.state != ThreadState::finished && thread.site.file != nullptr) {
          found.other = code_line(thread.site);
        }
        return found;
      }
    }
  }
  return finding(
      FindingKind::divergence,
      "divergence: " + place_of(*waiting) + " " + describe(*waiting) + ", but a block has returned",
      waiting, code_line(waiting->site));
}

} // namespace

Worker::Worker()
    : fiber([this] {
        while (true) {
          active->work(*this);
        }
      }) {}

std::optional<Finding> run_grid(const GridLaunch& launch, Random& random, GridCounts& counts) {
  GridRun grid(launch, random, counts);
  active = &grid;
  std::optional<Finding> problem = grid.run();
  race_detector().run(nullptr, 0);
  active = nullptr;
  return problem;
}

std::string current_place() {
  return active != nullptr && active->running() ? place_of(active->current()) : std::string();
}

std::optional<KernelThread> current_thread() {
  if (active == nullptr || !active->running()) {
    return std::nullopt;
  }
  const Thread& thread = active->current();
  return KernelThread{{}, thread.block->index, thread.index};
}

bool on_current_stack(const void* address) {
  return active != nullptr && active->worker() != nullptr && active->worker()->fiber.holds(address);
}

std::string beside_shared_memory(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto beside = [byte](SharedMemory& memory, const char* what, std::ptrdiff_t behind = 256) {
    const std::ptrdiff_t offset = byte - memory.data();
    const bool near =
        offset >= -256 && offset < static_cast<std::ptrdiff_t>(memory.size()) + behind;
    return near ? "byte " + std::to_string(offset) + " of the block's " +
                      std::to_string(memory.size()) + " bytes of " + what + " shared memory"
                : std::string();
  };
  Block& block = *active->current().block;
  for (const auto& variable : block.statics) {
    if (const std::string found = beside(variable->memory, "static"); !found.empty()) {
      return found;
    }
  }
  const std::string found = beside(block.shared, "dynamic", block.wants_shared ? 48 << 10 : 256);
  return found.empty() || block.shared.size() > 0
             ? found
             : found + ": the launch gives none, kernel<<<blocks, threads, bytes>>>(...) does";
}

void fail_current_thread(FindingKind kind, const std::string& problem, const CodeLine& at) {
  active->fail(kind, problem, at);
}

void* static_shared(const void* key, std::size_t bytes, std::size_t alignment, Site site) {
  Block& block = active->current_block();
  for (const auto& variable : block.statics) {
    if (variable->key == key) {
      return variable->memory.data();
    }
  }
  std::size_t total = bytes;
  for (const auto& variable : block.statics) {
    total += variable->memory.size();
  }
  constexpr std::size_t most = 48 << 10;
  if (total > most) {
    active->fail(FindingKind::launch_refused,
                 "has " + std::to_string(total) + " bytes of static shared memory at " +
                     line_text(site) + "; a device has " + std::to_string(most),
                 code_line(site));
  }
  if (alignment > 16) {
    active->fail(FindingKind::misuse,
                 "wants shared memory aligned to " + std::to_string(alignment) + " bytes at " +
                     line_text(site) + "; the emulation has 16",
                 code_line(site));
  }
  block.statics.push_back(std::make_unique<StaticShared>(key, bytes));
  StaticShared& variable = *block.statics.back();
  if (block.races != nullptr) {
    block.races->watch_static({variable.memory.data(), bytes});
  }
  return variable.memory.data();
}

bool stack_overflowed_at(const void* address) {
  return active != nullptr && active->worker() != nullptr &&
         active->worker()->fiber.overflowed_at(address);
}

namespace detail {

bool ThreadLoop::take_after_wait(uint3& thread) { return active->take_after_wait(thread); }

void block_barrier(Site site) {
  active->arrive(active->current().block->barrier, ThreadState::at_block_barrier, site);
}

void grid_barrier(Site site) {
  if (!active->cooperative()) {
    active->fail(
        FindingKind::divergence,
        "meets a grid barrier at " + line_text(site) + ", but the launch is not cooperative",
        code_line(site));
  }
  active->arrive(active->grid_barrier(), ThreadState::at_grid_barrier, site);
}

bool grid_is_cooperative() { return active->cooperative(); }

void cluster_arrive(Site site) { active->arrive_at_cluster(site); }
void cluster_wait(Site site) { active->wait_for_cluster(site); }
unsigned cluster_block_rank() {
  const Block& block = *active->current().block;
  return block.cluster->rank_of(block);
}
unsigned cluster_blocks() {
  return static_cast<unsigned>(active->current().block->cluster->blocks.size());
}
void* map_shared(const void* address, unsigned rank, Site site) {
  return active->map_shared(address, rank, site);
}

std::uint64_t warp_meeting(WarpCall call, unsigned mask, std::uint64_t value, int source,
                           Site site) {
  return active->meet(call, mask, value, source, site);
}

int block_vote(int predicate, Site site) { return active->vote(predicate, site); }

int lane() { return active->current().rank % 32; }
unsigned active_mask(Site site) { return active->active_mask(site); }
void yield() { active->yield(); }
void atomic_access(const void* address, std::size_t bytes, AtomicAccess access, Site site) {
  active->yield();
  if (RaceDetector* const detector = RaceDetector::watching()) {
    detector->access_atomically(address, bytes, access, site_at(site));
  }
}
void fence(int scope) {
  if (RaceDetector* const detector = RaceDetector::watching()) {
    detector->fence(static_cast<Scope>(scope));
  }
}
void trap(Site site) {
  runtime().trapped = true;
  active->fail(FindingKind::kernel_fault, "trapped at " + line_text(site), code_line(site));
}
void wide_access(const void* address, Site site) {
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    active->fail(FindingKind::out_of_bounds,
                 "accesses 16 bytes at a misaligned address at " + line_text(site),
                 code_line(site));
  }
}

} // namespace detail
} // namespace diffbench::emulation

const uint3& threadIdx = diffbench::emulation::built_in.thread;
const uint3& blockIdx = diffbench::emulation::built_in.block;
const dim3& blockDim = diffbench::emulation::built_in.block_shape;
const dim3& gridDim = diffbench::emulation::built_in.grid_shape;

void* emulated_dynamic_shared() {
  diffbench::emulation::Block& block = diffbench::emulation::active->current_block();
  block.wants_shared = true;
  return block.shared.data();
}
