// SPDX-License-Identifier: Apache-2.0
// The timing core: what lies between two readings of the clock, and in which order.
//
// Everything is a template over the clock, so that the tests run it on a fake one. Sessions may
// return before their work is done, so every stretch ends with wait(). A session that keeps its own
// account of where its time went (Session::take_phases) is believed; of others the phases are what
// their calls took. What is not inside a phase shows as `unexplained`; nothing is spread over the
// phases to hide it.
#pragma once

#include "cpu_time.hpp"
#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "observer.hpp"
#include "phases.hpp"
#include "planning.hpp"
#include "result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Runs one call of a session; what it throws then says which call that was.
template <typename Call>
void named(const char* name, Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Unavailable&) {
    throw; // a reason, not a fault
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", name, error.what()));
  }
}

/// Collects the phases of one run; its wall time begins when it is made.
template <typename Clock>
class PhaseTimer {
 public:
  /// Runs `work` and adds its time to `phase`. `call` names it where it throws.
  template <typename Work>
  void time(std::optional<double> Phases::*phase, const char* call, Work&& work) {
    const Stopwatch<Clock> watch;
    named(call, std::forward<Work>(work));
    phases_.*phase = (phases_.*phase).value_or(0) + watch.seconds();
  }

  /// Runs `work` outside of the run's time.
  template <typename Work>
  void leave_out(Work&& work) {
    const Stopwatch<Clock> watch;
    std::forward<Work>(work)();
    left_out_ += watch.seconds();
  }

  /// The phases so far, with the wall time up to now.
  [[nodiscard]] Phases finish() {
    phases_.wall = watch_.seconds() - left_out_;
    settle(phases_);
    return phases_;
  }

  [[nodiscard]] const Phases& so_far() const { return phases_; }

 private:
  Stopwatch<Clock> watch_;
  double left_out_ = 0;
  Phases phases_;
};

/// The host's side of a run's copies: the session's own memory where it has some, because a program
/// that wants fast copies keeps its data there; otherwise `field`.
template <typename T>
std::span<T> host_side(Session<T>& session, std::span<T> field) {
  const std::span<T> own = session.host_buffer();
  return own.empty() ? field : own;
}

/// Nothing where both are the same memory.
template <typename T>
void copy_cells(std::span<T> from, std::span<T> to) {
  if (from.data() != to.data()) {
    std::copy(from.begin(), from.end(), to.begin());
  }
}

/// One sample: `steps` from the initial field. The upload is outside the time, and so is what
/// `observer` does.
template <typename Clock, typename T>
Sample time_steps(Session<T>& session, std::span<const T> initial, std::int64_t steps,
                  Observer& observer = nobody()) {
  named("upload", [&] { session.upload(initial); });
  named("wait", [&] { session.wait(); });
  const Observed timed(observer, {.kind = Span::Kind::timed, .name = "steps", .steps = steps});
  const CpuTime cpu;
  const Stopwatch<Clock> watch;
  named("advance", [&] { session.advance(steps); });
  named("wait", [&] { session.wait(); });
  const double seconds = watch.seconds();
  return {.iterations = steps, .seconds = seconds, .cpu_seconds = cpu.seconds()};
}

/// A warm run end to end: upload, steps, download. `field` is the initial field before and the
/// result after.
template <typename Clock, typename T>
Phases time_end_to_end(Session<T>& session, std::span<T> field, std::int64_t steps) {
  const std::span<T> host = host_side(session, field);
  copy_cells(field, host);
  (void)session.take_phases(); // what came before is not of this run
  PhaseTimer<Clock> timer;
  timer.time(&Phases::h2d, "upload", [&] { session.upload(host); });
  timer.time(&Phases::compute, "advance", [&] { session.advance(steps); });
  timer.time(&Phases::sync, "wait", [&] { session.wait(); });
  timer.time(&Phases::d2h, "download", [&] { session.download(host); });
  Phases phases = timer.finish();
  itemize(phases, session.take_phases());
  copy_cells(host, field);
  return phases;
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
/// `limit_seconds` affords, and more where they were faster than that. The session stays in
/// `session` and is warm from then on.
template <typename Clock, typename T, typename Make>
FirstRun time_first_run(Make make, std::unique_ptr<Session<T>>& session, std::span<T> field,
                        std::int64_t steps, double limit_seconds) {
  PhaseTimer<Clock> timer;
  timer.time(&Phases::alloc, "making the session", [&] { session = make(); });
  const std::span<T> host = host_side(*session, field);
  timer.leave_out([&] { copy_cells(field, host); });
  timer.time(&Phases::h2d, "upload", [&] { session->upload(host); });
  FirstRun run;
  run.setup_seconds = *timer.so_far().alloc + *timer.so_far().h2d;

  double total = 0;
  auto advance = [&](std::int64_t count) {
    const Stopwatch<Clock> watch;
    timer.time(&Phases::compute, "advance", [&] { session->advance(count); });
    timer.time(&Phases::sync, "wait", [&] { session->wait(); });
    const double seconds = watch.seconds();
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
  auto affordable = [&] {
    const double made = static_cast<double>(run.steps) * step_seconds;
    return affordable_steps(steps, step_seconds, made + limit_seconds - total);
  };
  for (std::int64_t all = affordable(); all > run.steps; all = affordable()) {
    step_seconds = std::min(step_seconds, advance(all - run.steps));
  }
  timer.time(&Phases::d2h, "download", [&] { session->download(host); });
  run.phases = timer.finish();
  const bool more = run.steps > 1;
  run.cost = {.reset_seconds = *run.phases.h2d,
              .step_seconds =
                  more ? (total - first_step) / static_cast<double>(run.steps - 1) : first_step};
  itemize(run.phases, session->take_phases());
  copy_cells(host, field);
  return run;
}

} // namespace diffbench::bench
