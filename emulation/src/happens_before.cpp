// SPDX-License-Identifier: Apache-2.0
#include "happens_before.hpp"

#include <algorithm>
#include <utility>

namespace diffbench::emulation {
namespace {

// The last join: threads that have one clock and learn another one then have one again.
struct {
  ClockPtr left, right, result;
} last_join;

ClockPtr joined(const ClockPtr& left, const ClockPtr& right) {
  if (right == nullptr || left == right) {
    return left;
  }
  if (left == nullptr) {
    return right;
  }
  if (left->covers(*right)) {
    return left;
  }
  if (last_join.left != left || last_join.right != right) {
    auto result = std::make_shared<Clock>(*left);
    result->join(*right);
    last_join = {left, right, std::move(result)};
  }
  return last_join.result;
}

// Of all the threads together. Most have the clock of the one before.
Clock joined(std::span<ThreadOrder* const> threads) {
  Clock result;
  const Clock* last = nullptr;
  for (const ThreadOrder* thread : threads) {
    if (thread->clock != nullptr && thread->clock.get() != last) {
      last = thread->clock.get();
      result.join(*last);
    }
  }
  return result;
}

} // namespace

std::uint32_t Clock::find(const Entries& entries, std::uint64_t of) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), of,
                                      [](const Entry& e, std::uint64_t key) { return e.of < key; });
  return found != entries.end() && found->of == of ? found->before : 0;
}

void Clock::learn(Entries& entries, Entry entry) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), entry.of,
                                      [](const Entry& e, std::uint64_t key) { return e.of < key; });
  if (found == entries.end() || found->of != entry.of) {
    entries.insert(found, entry);
  } else {
    found->before = std::max(found->before, entry.before);
  }
}

void Clock::join(Entries& entries, const Entries& others) {
  Entries result;
  result.reserve(entries.size() + others.size());
  auto own = entries.begin();
  for (const Entry& other : others) {
    for (; own != entries.end() && own->of < other.of; ++own) {
      result.push_back(*own);
    }
    result.push_back(other);
    if (own != entries.end() && own->of == other.of) {
      result.back().before = std::max(result.back().before, own->before);
      ++own;
    }
  }
  result.insert(result.end(), own, entries.end());
  entries = std::move(result);
}

void Clock::learn_block(std::uint32_t block, std::uint32_t before) {
  learn(blocks_, {block, before});
  std::erase_if(threads_,
                [=](const Entry& e) { return block_of(e) == block && e.before <= before; });
}

void Clock::learn_thread(std::uint32_t block, std::uint16_t thread, std::uint32_t before) {
  if (of_block(block) < before) {
    learn(threads_, {key(block, thread), before});
  }
}

void Clock::join(const Clock& other) {
  join(blocks_, other.blocks_);
  join(threads_, other.threads_);
  std::erase_if(threads_, [this](const Entry& e) { return e.before <= of_block(block_of(e)); });
}

bool Clock::covers(const Clock& other) const {
  return std::all_of(other.blocks_.begin(), other.blocks_.end(),
                     [this](const Entry& e) { return e.before <= find(blocks_, e.of); }) &&
         std::all_of(other.threads_.begin(), other.threads_.end(), [this](const Entry& e) {
           return e.before <= of_block(block_of(e)) || e.before <= find(threads_, e.of);
         });
}

bool ThreadOrder::knows(std::uint32_t other, std::uint16_t its_thread,
                        std::uint32_t its_epoch) const {
  if (other == block && (its_thread == thread || its_epoch < own_before)) {
    return true;
  }
  return clock != nullptr &&
         (its_epoch < clock->of_block(other) || its_epoch < clock->of_thread(other, its_thread));
}

void ThreadOrder::learn(const ClockPtr& other) {
  clock = joined(clock, other);
  own_before = clock == nullptr ? own_before : std::max(own_before, clock->of_block(block));
}

void ThreadOrder::see(const Release& release) {
  const auto known = [&](const Release& earlier) {
    return earlier.clock == release.clock && earlier.scope >= release.scope;
  };
  if (std::none_of(seen.begin(), seen.end(), known)) {
    seen.push_back(release);
  }
}

ClockPtr ThreadOrder::release() {
  auto released = clock == nullptr ? std::make_shared<Clock>() : std::make_shared<Clock>(*clock);
  released->learn_thread(block, thread, ++epoch);
  return released;
}

void meet_in_blocks(std::span<ThreadOrder* const> threads) {
  if (threads.empty()) {
    return;
  }
  Clock met = joined(threads);
  std::uint32_t epoch = 0;
  for (const ThreadOrder* thread : threads) {
    epoch = std::max(epoch, thread->epoch + 1);
  }
  for (const ThreadOrder* thread : threads) {
    if (thread->thread == 0) {
      met.learn_block(thread->block, epoch);
    }
  }
  const auto clock = std::make_shared<const Clock>(std::move(met));
  for (ThreadOrder* thread : threads) {
    thread->clock = clock;
    thread->epoch = thread->own_before = epoch;
  }
}

void meet_in_warp(std::span<ThreadOrder* const> threads) {
  if (threads.empty()) {
    return;
  }
  Clock met = joined(threads);
  for (ThreadOrder* thread : threads) {
    met.learn_thread(thread->block, thread->thread, ++thread->epoch);
  }
  const auto clock = std::make_shared<const Clock>(std::move(met));
  for (ThreadOrder* thread : threads) {
    thread->learn(clock);
  }
}

void ClusterOrder::arrive(ThreadOrder& thread) {
  arrivals_.push_back({thread.block, thread.thread, ++thread.epoch});
  if (thread.clock != nullptr && (clocks_.empty() || clocks_.back() != thread.clock)) {
    clocks_.push_back(thread.clock);
  }
}

void ClusterOrder::open() {
  Clock opened;
  for (const ClockPtr& clock : std::exchange(clocks_, {})) {
    opened.join(*clock);
  }
  const auto arrivals = std::exchange(arrivals_, {});
  std::vector<Arrival> first; // of each block
  for (const Arrival& arrival : arrivals) {
    const auto found = std::find_if(first.begin(), first.end(), [&](const Arrival& earliest) {
      return earliest.block == arrival.block;
    });
    if (found == first.end()) {
      first.push_back(arrival);
    } else {
      found->before = std::min(found->before, arrival.before);
    }
  }
  for (const Arrival& arrival : first) {
    opened.learn_block(arrival.block, arrival.before);
  }
  for (const Arrival& arrival : arrivals) {
    opened.learn_thread(arrival.block, arrival.thread, arrival.before);
  }
  opened_ = std::make_shared<const Clock>(std::move(opened));
}

void ClusterOrder::wait(ThreadOrder& thread) { thread.learn(opened_); }

void OperationOrder::learn(const OperationOrder& other) {
  known.resize(std::max(known.size(), other.known.size()));
  for (std::size_t i = 0; i < other.known.size(); ++i) {
    known[i] = std::max(known[i], other.known[i]);
  }
}

OperationOrder HostOrder::issue(std::span<const OperationOrder* const> earlier) {
  OperationOrder operation = host_;
  for (const OperationOrder* one : earlier) {
    operation.learn(*one);
  }
  operation.known.resize(ends_.size());
  std::uint32_t chain = 0;
  while (chain < ends_.size() && operation.known[chain] != ends_[chain]) {
    ++chain;
  }
  if (chain == ends_.size()) {
    ends_.push_back(0);
    operation.known.push_back(0);
  }
  operation.chain = chain;
  operation.position = operation.known[chain] = ++ends_[chain];
  return operation;
}

} // namespace diffbench::emulation
