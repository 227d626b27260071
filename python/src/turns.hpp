// SPDX-License-Identifier: Apache-2.0
// Turns of threads at one thing, in the order in which they ask. With a mutex, a thread that ends
// its turn and asks for the next at once gets it nearly always, and others wait until it is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace diffbench::python {

class Turns {
 public:
  /// Waits until all who asked before have had their turn, at most for `patience`. False: too long,
  /// and the place in the queue is given up.
  [[nodiscard]] bool take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto place = queue_.emplace(queue_.end());
    const bool first =
        changed_.wait_for(lock, patience, [&] { return !taken_ && queue_.begin() == place; });
    queue_.erase(place);
    taken_ = taken_ || first;
    changed_.notify_all(); // another one may be the first now
    return first;
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    changed_.notify_all();
  }

 private:
  struct Place {};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Place> queue_;
  bool taken_ = false;
};

/// A turn that ends with it, where it has come.
class Turn {
 public:
  Turn(Turns& turns, std::chrono::milliseconds patience)
      : turns_(turns), has_come_(turns.take(patience)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (has_come_) {
      turns_.give_back();
    }
  }
  [[nodiscard]] bool has_come() const { return has_come_; }

 private:
  Turns& turns_;
  bool has_come_;
};

} // namespace diffbench::python
