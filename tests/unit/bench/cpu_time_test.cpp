// Processor time of short stretches: of all threads, up to now.
#include "cpu_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace diffbench::bench {
namespace {

using Clock = std::chrono::steady_clock;

void work_for(double seconds) {
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
  }
}

double used_by_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(CpuTime, IsThatOfTheCaller) {
  const CpuTime cpu;
  const double begin = used_by_this_thread();
  work_for(0.002);
  const double used = used_by_this_thread() - begin;
  EXPECT_NEAR(cpu.seconds(), used, 0.2 * used + 1e-4);
}

// However little another thread has worked, all of it is seen, and nothing of what it did before.
TEST(CpuTime, IsThatOfThreadsThatRunAtThatMoment) {
  std::atomic<int> stage = 0;
  std::atomic<double> used = 0;
  std::thread other([&] {
    work_for(0.1);
    stage = 1;
    stage.wait(1);
    const double begin = used_by_this_thread();
    work_for(0.001);
    used = used_by_this_thread() - begin;
    stage = 3;
    while (stage == 3) { // is still running when it is asked for
    }
  });
  while (stage != 1) {
    std::this_thread::yield();
  }
  const CpuTime cpu;
  const double own_begin = used_by_this_thread();
  stage = 2;
  stage.notify_all();
  while (stage != 3) {
    std::this_thread::yield();
  }
  const double own = used_by_this_thread() - own_begin;
  const double seconds = cpu.seconds();
  stage = 4;
  other.join();
  EXPECT_GE(seconds, 0.9 * (own + used));
  EXPECT_LE(seconds, own + used + 0.08); // not the 100 ms of before
}

} // namespace
} // namespace diffbench::bench
