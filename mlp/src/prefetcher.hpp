// SPDX-License-Identifier: Apache-2.0
// Makes items before they are taken: a thread of its own fills one buffer while the other is in
// use. Items come in the order in which they are made, so training sees the same rows as without.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace diffbench::mlp {

template <typename Item>
class Prefetcher {
 public:
  /// `fill` is called by the thread only, again and again, and makes an item out of an earlier one.
  explicit Prefetcher(std::function<void(Item&)> fill)
      : fill_(std::move(fill)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

  /// The next item, valid until the next call. Waits for it. Throws what `fill` threw, from then on
  /// always.
  const Item& next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready_ || failure_; });
    if (!ready_) {
      std::rethrow_exception(failure_);
    }
    taken_ = 1 - taken_;
    ready_ = false;
    lock.unlock();
    changed_.notify_one();
    return items_[taken_];
  }

 private:
  void work(const std::stop_token& stop) {
    try {
      for (std::size_t at = 1; !stop.stop_requested(); at = 1 - at) {
        fill_(items_[at]);
        std::unique_lock lock(mutex_);
        ready_ = true;
        changed_.notify_one();
        changed_.wait(lock, stop, [&] { return !ready_; });
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_one();
    }
  }

  std::function<void(Item&)> fill_;
  std::array<Item, 2> items_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t taken_ = 0; ///< which item is in use
  bool ready_ = false;    ///< the other one is made
  std::exception_ptr failure_;
  std::jthread thread_; // last, so that it ends before what it uses
};

} // namespace diffbench::mlp
