// SPDX-License-Identifier: Apache-2.0
// Interleaved rounds: in every round each row takes one sample, so that a drift of the machine
// (clock frequency, a neighbour) meets all rows alike. Each round has another order, so that nobody
// always runs in the wake of the same other row.
//
// A template over what is timed and over the clock: the tests use fakes of both.
#pragma once

#include "diffbench/stopwatch.hpp"
#include "foreign_load.hpp"
#include "observer.hpp"
#include "planning.hpp"
#include "result.hpp"
#include "statistics.hpp"
#include "stolen_time.hpp"

#include <sys/types.h>
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
  /// In which it runs; 0: in this one.
  [[nodiscard]] virtual pid_t process() const { return 0; }
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

/// Part of a sample that may have been stolen without a trace in it: interrupts, the kernel's own
/// threads.
inline constexpr double stolen_by_a_tick = 0.01;
/// By which others change what they do not steal, at most: see docs/measuring.md for the trials.
inline constexpr double slack_beside_others = 0.12;

/// Beside others a sample on several threads of which nothing was stolen, or of some the one of
/// which the least part was; of one on one thread it is known what was. Those that are taken again
/// are shorter, since the kernel lets a thread run for some milliseconds at least; so are the next
/// ones of `plan`. They take up to `most_seconds`, and three times as long as one of the plan's
/// first length.
template <typename Clock, typename Stolen = StolenTime, typename Timed>
Sample least_disturbed_sample(Timed& timed, SamplePlan& plan, const LoadWatch* load,
                              double most_seconds) {
  constexpr double shortest_seconds = 1e-3;
  pid_t process = 0;
  if constexpr (requires { timed.process(); }) {
    process = timed.process();
  }
  const auto take = [&] {
    const Stolen stolen(process);
    Sample sample = timed.sample(plan.iterations);
    stolen.tell(sample);
    return sample;
  };
  Sample best = take();
  if (best.on_one_thread || best.stolen_share() <= stolen_by_a_tick || load == nullptr ||
      !load->others_disturb().value_or(false)) {
    return best;
  }
  plan.longest = std::max(plan.longest, plan.iterations);
  const double limit =
      std::min(2 * static_cast<double>(plan.longest) * best.seconds_per_iteration(), most_seconds);
  const Stopwatch<Clock> watch;
  for (int retaken = 1; best.stolen_share() > stolen_by_a_tick && watch.seconds() < limit;
       ++retaken) {
    const std::int64_t shorter = plan.iterations / 4 / plan.unit * plan.unit;
    if (static_cast<double>(shorter) * best.seconds_per_iteration() > shortest_seconds) {
      plan.iterations = shorter;
    }
    const Sample again = take();
    if (again.stolen_share() < best.stolen_share()) {
      best = again;
    }
    best.retaken = retaken;
  }
  return best;
}

/// What samples say of the idle machine, by what is known of others. Where it is known what they
/// added, it is taken out.
inline void allow_for_others(std::span<Sample> samples, std::optional<bool> disturbed) {
  for (Sample& sample : samples) {
    sample.slack.reset();
    if (disturbed) {
      sample.slack = *disturbed ? slack_beside_others : 0;
    }
    if (sample.disturbed() && sample.on_one_thread) {
      sample.seconds -= sample.longer_by();
      sample.stolen_seconds = 0;
    }
  }
}

/// Takes the samples of all contenders with a timed. One that throws fails, and keeps its
/// samples; one that has enough rests; the others go on. Before each round samples come to say what
/// `load` leaves them to show of an idle machine. Ends early when
/// `stop()` says so before a sample, and beyond `limit_seconds` for every row that has a sample.
/// `on_sample(done, all)` reports progress.
template <typename Clock, typename Contender, typename Stop, typename OnSample>
void run_rounds(std::span<Contender> contenders, double limit_seconds, Stop stop,
                OnSample on_sample, Observer& observer = nobody(),
                const LoadWatch* load = nullptr) {
  const auto allow = [&] {
    if (load != nullptr) {
      const std::optional<bool> disturbed = load->others_disturb();
      for (Contender& contender : contenders) {
        allow_for_others(contender.row.samples, disturbed);
      }
    }
  };
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
  const auto take = [&] {
    for (int round = 0; round < rounds; ++round) {
      if (round > 0) {
        std::shuffle(order.begin(), order.end(), random);
        allow();
      }
      for (Contender* const contender : order) {
        auto& row = contender->row;
        const SamplePlan plan = contender->plan;
        if (!contender->timed || !takes_part(plan.rounds, round, rounds)) {
          continue;
        }
        if (stop()) {
          return;
        }
        const bool late = watch.seconds() > limit_seconds;
        if (!row.samples.empty() &&
            (late || has_enough(contender->row.samples, contender->plan.precision))) {
          on_sample(++done, all);
          continue;
        }
        try {
          const Observed run(observer, {.kind = Span::Kind::run,
                                        .name = "sample",
                                        .row = row.name,
                                        .steps = plan.iterations});
          const double share = limit_seconds * (round + 1) / rounds; // also of those to come
          Sample sample = least_disturbed_sample<Clock>(*contender->timed, contender->plan,
                                                        row.on_device() ? nullptr : load,
                                                        share - watch.seconds());
          sample.round = round;
          sample.on_one_thread = sample.on_one_thread && !row.on_device(); // that works meanwhile
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
  };
  take();
  allow();
}

} // namespace diffbench::bench
