// SPDX-License-Identifier: Apache-2.0
// In the place of the header of that name of NVIDIA's samples: a stopwatch of the host, in ms.
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
  void start() { begin_ = Clock::now(); }
  void stop() {
    total_ += std::chrono::duration<float, std::milli>(Clock::now() - begin_).count();
    ++runs_;
  }
  void reset() { *this = {}; }
  float getTime() { return total_; }
  float getAverageTime() { return runs_ == 0 ? 0 : total_ / static_cast<float>(runs_); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_{};
  float total_ = 0;
  int runs_ = 0;
};

inline bool sdkCreateTimer(StopWatchInterface** watch) {
  *watch = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** watch) {
  delete *watch;
  *watch = nullptr;
  return true;
}
// Not inline: what looks at the clock is the line that calls them.
[[gnu::noinline]] inline bool sdkStartTimer(StopWatchInterface** watch) { return (*watch)->start(), true; }
[[gnu::noinline]] inline bool sdkStopTimer(StopWatchInterface** watch) { return (*watch)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** watch) { return (*watch)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** watch) { return (*watch)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** watch) {
  return (*watch)->getAverageTime();
}
