// SPDX-License-Identifier: Apache-2.0
// Clocks of the tests.
#pragma once

#include <chrono>

namespace diffbench::bench {

/// Moves only when a test moves it.
struct FakeClock {
  using duration = std::chrono::duration<double>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FakeClock>;
  static constexpr bool is_steady = true;

  static time_point now() { return time_point(duration(seconds)); }
  static inline double seconds = 0;
};

/// Moves by a millisecond each time that it is read, too, so that a busy wait on it ends.
struct TickingClock : FakeClock {
  static time_point now() {
    FakeClock::seconds += 1e-3;
    return FakeClock::now();
  }
};

} // namespace diffbench::bench
