// SPDX-License-Identifier: Apache-2.0
// Processor time of short stretches: of all threads, up to now. Its bounds are what other clocks
// show, not how long something should take: libraries' threads run beside the tests', and any
// thread may have to wait for a processor.
#include "cpu_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <thread>

namespace diffbench::bench {
namespace {

/// Far more than other running threads use between two ticks of the process's clock.
constexpr double earlier_work = 0.2;
constexpr double ticks = 0.15;

double used(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double used_by_the_process() { return used(CLOCK_PROCESS_CPUTIME_ID); }

void work_for(double seconds) {
  const double begin = used();
  while (used() - begin < seconds) {
  }
}

TEST(CpuTime, IsThatOfTheCallerSinceThen) {
  work_for(earlier_work);
  const double process_begin = used_by_the_process();
  const CpuTime cpu;
  const double begin = used();
  work_for(0.002);
  const double own = used() - begin;
  const double seconds = cpu.seconds();
  EXPECT_GE(seconds, own);
  EXPECT_LE(seconds, used_by_the_process() - process_begin + ticks);
}

// However little another thread has worked, all of it is seen, and nothing of what it did before.
TEST(CpuTime, IsThatOfThreadsThatRunAtThatMoment) {
  std::atomic<int> stage = 0;
  std::atomic<double> of_other = 0;
  std::thread other([&] {
    work_for(earlier_work);
    stage = 1;
    stage.wait(1);
    const double begin = used();
    work_for(0.001);
    of_other = used() - begin;
    stage = 3;
    while (stage == 3) { // is still running when it is asked for
    }
  });
  while (stage != 1) {
    std::this_thread::yield();
  }
  const double process_begin = used_by_the_process();
  const CpuTime cpu;
  const double begin = used();
  stage = 2;
  stage.notify_all();
  while (stage != 3) {
    std::this_thread::yield();
  }
  const double own = used() - begin;
  const double seconds = cpu.seconds();
  const double process_end = used_by_the_process();
  stage = 4;
  other.join();
  EXPECT_GE(seconds, own + of_other);
  EXPECT_LE(seconds, process_end - process_begin + ticks);
}

} // namespace
} // namespace diffbench::bench
