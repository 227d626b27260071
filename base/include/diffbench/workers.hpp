// SPDX-License-Identifier: Apache-2.0
// A team of threads that run one job together, and a barrier among them.
#pragma once

#include "diffbench/team_places.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace diffbench {

/// `count` threads, the caller's own among them. The others wait for the next job awake for some
/// 50 us, then asleep, and run on other CPUs than the caller where there are enough (TeamPlaces).
class Workers {
 public:
  /// Throws Error when the system gives no more threads.
  explicit Workers(int count);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  [[nodiscard]] int count() const { return count_; }

  /// Runs job(0) ... job(count-1), each on its own thread, and returns when all are done.
  /// Jobs must not throw.
  void run(const std::function<void(int)>& job);

  /// Called by every thread of a job: returns when all have called it. What was written before is
  /// visible after. Spins for a while, then sleeps, so that an oversubscribed machine still
  /// advances.
  void barrier();

 private:
  void serve(int thread);
  void stop();

  int count_;
  TeamPlaces places_;
  const std::function<void(int)>* job_ = nullptr;
  std::atomic<unsigned> jobs_started_ = 0;
  bool stopping_ = false; ///< published by jobs_started_
  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<unsigned> phase_ = 0;
  std::vector<std::thread> threads_;
};

} // namespace diffbench
