#include "workbench.hpp"

#include "interrupt.hpp"
#include "rounds.hpp"
#include "statistics.hpp"

#include <array>
#include <chrono>

namespace diffbench::bench {

namespace {

/// Samples of each way: enough for quartiles of noisy times.
constexpr int rounds_in_turns = 21;

/// A way as a row of the rounds.
struct WayLane {
  const Way* way;

  [[nodiscard]] Sample sample(std::int64_t /*steps*/) const {
    return {.iterations = 1, .seconds = way->sample(), .cpu_seconds = {}};
  }
};

Lane<WayLane> lane_of(const Way& way) {
  return {.contender = std::make_unique<WayLane>(WayLane{&way}),
          .plan = {.rounds = rounds_in_turns, .iterations = 1},
          .samples = {},
          .failure = {}};
}

/// Warms up, and proves that the work is done.
void verify(const Way& way) {
  if (interrupted()) {
    throw Interrupted();
  }
  (void)way.sample();
  if (!way.was_right()) {
    throw WrongResult("the result is not the reference's, so nothing was timed");
  }
}

Reading reading_of(const Lane<WayLane>& lane) {
  if (!lane.failure.empty()) {
    throw Error(lane.failure);
  }
  if (lane.samples.empty()) { // Ctrl-C came before
    throw Interrupted();
  }
  Reading reading;
  for (const Sample& sample : lane.samples) {
    reading.samples.push_back(sample.seconds);
  }
  reading.seconds = quartiles(reading.samples).median;
  return reading;
}

} // namespace

double steady_seconds() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

BackendInfo Workbench::find_timed_backend(std::string_view name) const {
  BackendInfo backend = find_backend_(name);
  if (backend.device == DeviceKind::emulated) {
    throw Unavailable("the GPU of this build is emulated, and its times would mean nothing");
  }
  return backend;
}

Finding Workbench::in_turns(const Way& mistaken, const Way& right) const {
  verify(mistaken);
  verify(right);
  std::array lanes{lane_of(mistaken), lane_of(right)};
  run_rounds<std::chrono::steady_clock>(std::span<Lane<WayLane>>(lanes), share_seconds_,
                                        interrupted, [](int, int) {});
  return {.mistaken = reading_of(lanes[0]), .right = reading_of(lanes[1])};
}

std::vector<double> Workbench::samples(const Way& way, int count,
                                       const std::function<void(int)>& before) const {
  constexpr std::size_t fewest = 5;
  verify(way);
  std::vector<double> taken;
  const double start = now();
  for (int i = 0; i < count; ++i) {
    if (interrupted()) {
      throw Interrupted();
    }
    if (taken.size() >= fewest && now() - start > share_seconds_) {
      break;
    }
    if (before) {
      before(i);
    }
    taken.push_back(way.sample());
  }
  return taken;
}

} // namespace diffbench::bench
