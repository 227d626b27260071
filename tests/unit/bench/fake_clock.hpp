// A clock that moves only when a test moves it.
#pragma once

#include <chrono>

namespace diffbench::bench {

struct FakeClock {
  using duration = std::chrono::duration<double>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FakeClock>;
  static constexpr bool is_steady = true;

  static time_point now() { return time_point(duration(seconds)); }
  static inline double seconds = 0;
};

} // namespace diffbench::bench
