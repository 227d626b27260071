// SPDX-License-Identifier: Apache-2.0
#include "diffbench/workers.hpp"

#include "diffbench/errors.hpp"

#include <string>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace diffbench {

namespace {

// 54 us on Zen 5, about what waking a thread takes: who waits spends at most twice what the better
// of spinning and sleeping would have cost.
constexpr int spins_before_sleep = 2000;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Returns when `value` is no longer `seen`.
void await_change(const std::atomic<unsigned>& value, unsigned seen) {
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    if (value.load(std::memory_order_acquire) != seen) {
      return;
    }
    relax();
  }
  value.wait(seen, std::memory_order_acquire);
}

} // namespace

Workers::Workers(int count) : count_(count), places_(count) {
  threads_.reserve(static_cast<std::size_t>(count - 1));
  try {
    for (int thread = 1; thread < count; ++thread) {
      threads_.emplace_back([this, thread] { serve(thread); });
    }
  } catch (const std::system_error&) {
    stop();
    throw Error("the system gives " + std::to_string(threads_.size() + 1) + " of " +
                std::to_string(count) +
                " threads: choose fewer --threads, or raise its limit (ulimit -u, ulimit -v, the "
                "cgroup's pids.max)");
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  stopping_ = true;
  jobs_started_.fetch_add(1, std::memory_order_release);
  jobs_started_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Workers::run(const std::function<void(int)>& job) {
  if (places_.follow_caller()) {
    for (int thread = 1; thread < count_; ++thread) {
      places_.place(threads_[static_cast<std::size_t>(thread - 1)].native_handle(), thread);
    }
  }
  job_ = &job;
  jobs_started_.fetch_add(1, std::memory_order_release);
  jobs_started_.notify_all();
  job(0);
  barrier();
}

void Workers::serve(int thread) {
  for (unsigned seen = 0;; ++seen) {
    await_change(jobs_started_, seen);
    if (stopping_) {
      return;
    }
    (*job_)(thread);
    barrier();
  }
}

void Workers::barrier() {
  if (count_ == 1) {
    return;
  }
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_release);
    phase_.notify_all();
    return;
  }
  await_change(phase_, phase);
}

} // namespace diffbench
