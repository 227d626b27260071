// The timing core: what lies between two readings of the clock, and in which order.
//
// Everything is a template over the clock, so that the tests run it on a fake one. Sessions may
// return before their work is done, so every stretch ends with wait(). What is not inside a phase
// shows as `unexplained`; nothing is spread over the phases to hide it.
#pragma once

#include "diffbench/backend.hpp"
#include "planning.hpp"
#include "result.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Processor time of all threads of this process, in seconds.
inline double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Clock>
double seconds_since(typename Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Collects the phases of one run; its wall time begins when it is made.
template <typename Clock>
class PhaseTimer {
 public:
  /// Runs `work` and adds its time to `phase`.
  template <typename Work>
  void time(std::optional<double> Phases::*phase, Work&& work) {
    const auto start = Clock::now();
    std::forward<Work>(work)();
    phases_.*phase = (phases_.*phase).value_or(0) + seconds_since<Clock>(start);
  }

  /// The phases so far, with the wall time up to now.
  [[nodiscard]] Phases finish() {
    phases_.wall = seconds_since<Clock>(start_);
    double explained = 0;
    for (const NamedPhase& phase : named_phases) {
      explained += (phases_.*phase.member).value_or(0);
    }
    phases_.unexplained = phases_.wall - explained;
    return phases_;
  }

  [[nodiscard]] const Phases& so_far() const { return phases_; }

 private:
  typename Clock::time_point start_ = Clock::now();
  Phases phases_;
};

/// One sample: `steps` from the initial field. The upload is outside the time.
template <typename Clock, typename T>
Sample time_steps(Session<T>& session, std::span<const T> initial, std::int64_t steps) {
  session.upload(initial);
  session.wait();
  const double cpu_start = process_cpu_seconds();
  const auto start = Clock::now();
  session.advance(steps);
  session.wait();
  const double seconds = seconds_since<Clock>(start);
  return {
      .iterations = steps, .seconds = seconds, .cpu_seconds = process_cpu_seconds() - cpu_start};
}

/// A warm run end to end: upload, steps, download. `field` is the initial field before and the
/// result after.
template <typename Clock, typename T>
Phases time_end_to_end(Session<T>& session, std::span<T> field, std::int64_t steps) {
  PhaseTimer<Clock> timer;
  timer.time(&Phases::h2d, [&] { session.upload(field); });
  timer.time(&Phases::compute, [&] { session.advance(steps); });
  timer.time(&Phases::sync, [&] { session.wait(); });
  timer.time(&Phases::d2h, [&] { session.download(field); });
  return timer.finish();
}

/// What the first run of a row showed.
struct FirstRun {
  std::int64_t steps = 0; ///< that it made; fewer than asked for where they would take too long
  double setup_seconds = 0;
  RowCost cost;
  Phases phases;
};

/// The very first run, from nothing: makes the session, uploads `field`, advances, and downloads
/// into `field`. A few steps first tell what a step takes; then it makes as many of `steps` as
/// `limit_seconds` affords. The session stays in `session` and is warm from then on.
template <typename Clock, typename T, typename Make>
FirstRun time_first_run(Make make, std::unique_ptr<Session<T>>& session, std::span<T> field,
                        std::int64_t steps, double limit_seconds) {
  PhaseTimer<Clock> timer;
  timer.time(&Phases::alloc, [&] { session = make(); });
  timer.time(&Phases::h2d, [&] { session->upload(field); });
  FirstRun run;
  run.setup_seconds = *timer.so_far().alloc + *timer.so_far().h2d;

  double total = 0;
  auto advance = [&](std::int64_t count) {
    const auto start = Clock::now();
    timer.time(&Phases::compute, [&] { session->advance(count); });
    timer.time(&Phases::sync, [&] { session->wait(); });
    const double seconds = seconds_since<Clock>(start);
    total += seconds;
    run.steps += count;
    return seconds / static_cast<double>(count);
  };
  // The first step touches fresh memory and says little; longer stretches follow while they are a
  // small part of the limit. The fastest counts: what disturbs a short stretch only slows it.
  const double first_step = advance(1);
  double step_seconds = first_step;
  for (const std::int64_t count : {3, 12, 48}) {
    if (run.steps + count <= steps &&
        total + 2 * static_cast<double>(count) * step_seconds < limit_seconds / 10) {
      step_seconds = std::min(step_seconds, advance(count));
    }
  }
  const std::int64_t affordable = affordable_steps(steps, step_seconds, limit_seconds);
  if (affordable > run.steps) {
    advance(affordable - run.steps);
  }
  timer.time(&Phases::d2h, [&] { session->download(field); });
  run.phases = timer.finish();
  const bool more = run.steps > 1;
  run.cost = {.reset_seconds = *run.phases.h2d,
              .step_seconds =
                  more ? (total - first_step) / static_cast<double>(run.steps - 1) : first_step};
  return run;
}

} // namespace diffbench::bench
