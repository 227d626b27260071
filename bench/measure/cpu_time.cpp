// SPDX-License-Identifier: Apache-2.0
#include "cpu_time.hpp"

#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace diffbench::bench {

namespace {

/// Seconds, or `otherwise` for a thread that has ended.
double shown_by(clockid_t clock, double otherwise) {
  timespec now{};
  return ::clock_gettime(clock, &now) == 0
             ? static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec)
             : otherwise;
}

/// Of the thread with that number: what pthread_getcpuclockid(3) gives for those of which one has
/// the handle (the kernel's MAKE_THREAD_CPUCLOCK: the complement in front of three bits of kind).
clockid_t clock_of(pid_t thread) {
  constexpr unsigned per_thread = 4, scheduler = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | per_thread | scheduler);
}

} // namespace

CpuTime::CpuTime() {
  std::error_code error;
  const pid_t own = ::gettid();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread > 0 && thread != own) {
      begin_.emplace_back(clock_of(thread), 0);
    }
  }
  begin_.insert(begin_.begin(), {CLOCK_THREAD_CPUTIME_ID, 0});
  std::for_each(begin_.rbegin(), begin_.rend(),
                [](auto& thread) { thread.second = shown_by(thread.first, 0); });
}

double CpuTime::seconds() const {
  double sum = 0;
  for (const auto& [clock, begin] : begin_) {
    sum += shown_by(clock, begin) - begin;
  }
  return sum;
}

} // namespace diffbench::bench
