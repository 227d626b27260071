// Interleaved rounds: in every round each row takes one sample, so that a drift of the machine
// (clock frequency, a neighbour) meets all rows alike. Each round has another order, so that nobody
// always runs in the wake of the same other row.
//
// A template over what is timed and over the clock: the tests use fakes of both.
#pragma once

#include "observer.hpp"
#include "planning.hpp"
#include "result.hpp"
#include "statistics.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// A row in the rounds. Contender has `Sample sample(std::int64_t steps)`.
template <typename Contender>
struct Lane {
  std::unique_ptr<Contender> contender; ///< gone once it has thrown
  SamplePlan plan;
  std::vector<Sample> samples;
  std::string failure;  ///< what it threw
  std::string row = {}; ///< its name, for observers
  double precision = 0; ///< with which it has enough samples, see is_precise(); 0: never
};

/// Whether a lane takes a sample in round `round` of `rounds`: its samples are spread evenly, so a
/// slow row's few samples meet the same drift as the others' many.
inline bool takes_part(int lane_rounds, int round, int rounds) {
  return (round + 1) * lane_rounds / rounds > round * lane_rounds / rounds;
}

/// Looked at after the usual number of samples at the earliest: the interval of a few is narrow by
/// chance too often when one waits for it.
template <typename Contender>
bool has_enough(const Lane<Contender>& lane) {
  return lane.precision > 0 && lane.samples.size() >= rounds_wanted &&
         is_precise(lane.samples, lane.precision);
}

/// Takes the samples of all lanes. A lane that throws loses its contender at once (which frees what
/// it held) and keeps its samples; one that is precise enough rests; the others go on. Ends early
/// when `stop()` says so before a sample, and beyond `limit_seconds` for every lane that has a
/// sample. `on_sample(done, all)` reports progress.
template <typename Clock, typename Contender, typename Stop, typename OnSample>
void run_rounds(std::span<Lane<Contender>> lanes, double limit_seconds, Stop stop,
                OnSample on_sample, Observer& observer = nobody()) {
  int rounds = 0;
  int all = 0;
  for (const Lane<Contender>& lane : lanes) {
    rounds = std::max(rounds, lane.plan.rounds);
    all += lane.plan.rounds;
  }
  const auto start = Clock::now();
  int done = 0;
  std::vector<std::size_t> order(lanes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random; // NOLINT(cert-msc51-cpp): the same orders in each run
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) {
      std::shuffle(order.begin(), order.end(), random);
    }
    for (const std::size_t index : order) {
      Lane<Contender>& lane = lanes[index];
      if (!lane.contender || !takes_part(lane.plan.rounds, round, rounds)) {
        continue;
      }
      if (stop()) {
        return;
      }
      if (!lane.samples.empty() &&
          (seconds_since<Clock>(start) > limit_seconds || has_enough(lane))) {
        on_sample(++done, all);
        continue;
      }
      try {
        const Observed run(observer, {.kind = Span::Kind::run,
                                      .name = "sample",
                                      .row = lane.row,
                                      .steps = lane.plan.iterations});
        Sample sample = lane.contender->sample(lane.plan.iterations);
        sample.round = round;
        lane.samples.push_back(sample);
      } catch (const std::exception& error) {
        lane.contender.reset();
        if (stop()) { // given up because of that, not by a fault of its own
          return;
        }
        lane.failure = error.what();
      }
      on_sample(++done, all);
    }
  }
}

} // namespace diffbench::bench
