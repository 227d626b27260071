// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds: in every round each row takes one sample, so that a drift of the machine
// (clock frequency, a neighbour) meets all rows alike. Each round has another order, so that nobody
// always runs in the wake of the same other row.
//
// A template over what is timed and over the clock: the tests use fakes of both.
#pragma once

#include "diffbench/stopwatch.hpp"
#include "observer.hpp"
#include "planning.hpp"
#include "result.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What can be verified and timed. Every sample starts from the same state.
template <typename T>
class Timed {
 public:
  Timed() = default;
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  virtual ~Timed() = default;

  /// One sample of `steps`; getting to where they start is outside of the time.
  virtual Sample sample(std::int64_t steps) = 0;
  /// The result of the latest run.
  virtual void fetch(std::span<T> result) = 0;
  [[nodiscard]] virtual Provenance provenance() const = 0;
  /// Peak memory, where it is that of another process.
  [[nodiscard]] virtual std::optional<std::int64_t> own_peak_bytes() const { return std::nullopt; }
};

/// A row while it is being measured. `Timed` is a Timed, or at least has its sample().
template <typename Row, typename Timed>
struct Contender {
  Row row;
  std::unique_ptr<Timed> timed; ///< gone when the row is not to be timed, or has thrown
  RowCost cost = {};
  SamplePlan plan = {};

  /// Frees what the timed held, too.
  void give_up(Status status, std::string reason) {
    timed.reset();
    row.status = status;
    row.reason = std::move(reason);
  }
};

/// Whether a row takes a sample in round `round` of `rounds`: its samples are spread evenly, so a
/// slow row's few samples meet the same drift as the others' many.
inline bool takes_part(int row_rounds, int round, int rounds) {
  return (round + 1) * row_rounds / rounds > round * row_rounds / rounds;
}

/// Looked at after the usual number of samples at the earliest: the interval of a few is narrow by
/// chance too often when one waits for it.
inline bool has_enough(std::span<const Sample> samples, double precision) {
  return precision > 0 && samples.size() >= rounds_wanted && is_precise(samples, precision);
}

/// Rows are enough when they are as precise as their plan wants; an `Enough` of run_rounds().
struct PreciseRows {
  template <typename Contender>
  void look(std::span<const Contender> /*contenders*/) {}
  template <typename Contender>
  [[nodiscard]] bool operator()(const Contender& contender) const {
    return has_enough(contender.row.samples, contender.plan.precision);
  }
};

/// Takes the samples of all contenders with a timed. One that throws fails, and keeps its
/// samples; one that has enough rests; the others go on. `enough` looks at all of them before each
/// round. Ends early when `stop()` says so
/// before a sample, and beyond `limit_seconds` for every row that has a sample.
/// `on_sample(done, all)` reports progress.
template <typename Clock, typename Contender, typename Stop, typename OnSample,
          typename Enough = PreciseRows>
void run_rounds(std::span<Contender> contenders, double limit_seconds, Stop stop,
                OnSample on_sample, Observer& observer = nobody(), Enough enough = {}) {
  std::vector<Contender*> order;
  int rounds = 0;
  int all = 0;
  for (Contender& contender : contenders) {
    if (contender.timed) {
      order.push_back(&contender);
      rounds = std::max(rounds, contender.plan.rounds);
      all += contender.plan.rounds;
    }
  }
  const Stopwatch<Clock> watch;
  int done = 0;
  std::mt19937 random; // NOLINT(cert-msc51-cpp): the same orders in each run
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) {
      std::shuffle(order.begin(), order.end(), random);
      enough.look(std::span<const Contender>(contenders));
    }
    for (Contender* const contender : order) {
      auto& row = contender->row;
      const SamplePlan& plan = contender->plan;
      if (!contender->timed || !takes_part(plan.rounds, round, rounds)) {
        continue;
      }
      if (stop()) {
        return;
      }
      if (!row.samples.empty() &&
          (watch.seconds() > limit_seconds || enough(std::as_const(*contender)))) {
        on_sample(++done, all);
        continue;
      }
      try {
        const Observed run(
            observer,
            {.kind = Span::Kind::run, .name = "sample", .row = row.name, .steps = plan.iterations});
        Sample sample = contender->timed->sample(plan.iterations);
        sample.round = round;
        row.samples.push_back(sample);
      } catch (const std::exception& error) {
        const std::string reason = error.what();
        contender->timed.reset();
        if (stop()) { // given up because of that, not by a fault of its own
          return;
        }
        contender->give_up(Status::failed, reason);
      }
      on_sample(++done, all);
    }
  }
}

} // namespace diffbench::bench
