#include "diffbench/workers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace diffbench {

namespace {

// About 10 us: longer than the imbalance of a sweep, shorter than a time slice.
constexpr int spins_before_sleep = 2000;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

} // namespace

Workers::Workers(int count) : count_(count) {
  threads_.reserve(static_cast<std::size_t>(count - 1));
  for (int thread = 1; thread < count; ++thread) {
    threads_.emplace_back([this, thread] { serve(thread); });
  }
}

Workers::~Workers() {
  stopping_ = true;
  jobs_started_.fetch_add(1, std::memory_order_release);
  jobs_started_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Workers::run(const std::function<void(int)>& job) {
  job_ = &job;
  jobs_started_.fetch_add(1, std::memory_order_release);
  jobs_started_.notify_all();
  job(0);
  barrier();
}

void Workers::serve(int thread) {
  for (unsigned seen = 0;; ++seen) {
    jobs_started_.wait(seen, std::memory_order_acquire);
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
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    if (phase_.load(std::memory_order_acquire) != phase) {
      return;
    }
    relax();
  }
  phase_.wait(phase, std::memory_order_acquire);
}

} // namespace diffbench
