// SPDX-License-Identifier: Apache-2.0
#include "workbench.hpp"

#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "rounds.hpp"
#include "statistics.hpp"

#include <array>

namespace diffbench::bench {

namespace {

/// Samples of each way: enough for quartiles of noisy times.
constexpr int rounds_in_turns = 21;

/// A way in the rounds.
struct TimedWay {
  const Way* way;

  [[nodiscard]] Sample sample(std::int64_t /*steps*/) const {
    return {.iterations = 1, .seconds = way->sample(), .cpu_seconds = {}};
  }
};

using Turn = Contender<TimedRow, TimedWay>;

Turn turn_of(const Way& way) {
  return {.row = {},
          .timed = std::make_unique<TimedWay>(TimedWay{&way}),
          .cost = {},
          .plan = {.rounds = rounds_in_turns, .iterations = 1}};
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

Reading reading_of(const TimedRow& row) {
  if (row.failed()) {
    throw Error(row.reason);
  }
  if (row.samples.empty()) { // Ctrl-C came before
    throw Interrupted();
  }
  return {.seconds = iteration_quartiles(row.samples).median, .samples = row.samples};
}

} // namespace

double steady_seconds() {
  static const Stopwatch watch;
  return watch.seconds();
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
  std::array ways{turn_of(mistaken), turn_of(right)};
  run_rounds<SteadyClock>(
      std::span<Turn>(ways), share_seconds_, interrupted, [](int, int) {}, nobody(), &load_);
  return {.mistaken = reading_of(ways[0].row), .right = reading_of(ways[1].row)};
}

std::vector<Sample> Workbench::samples(const Way& way, int count,
                                       const std::function<void(int)>& before) const {
  constexpr std::size_t fewest = 5;
  verify(way);
  std::vector<Sample> taken;
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
    taken.push_back({.iterations = 1, .seconds = way.sample(), .cpu_seconds = {}, .round = i});
  }
  allow_for_others(taken, load_.others_disturb());
  return taken;
}

} // namespace diffbench::bench
