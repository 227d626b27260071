// SPDX-License-Identifier: Apache-2.0
// A row of the comparison while it is being measured, and what the comparison knows of the thing
// behind it, be it a session of a backend in this process or a peer in another one.
#pragma once

#include "comparison_plan.hpp"
#include "competition.hpp"
#include "diffbench/backend.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/field.hpp"
#include "diffbench/stopwatch.hpp"
#include "interruptible_session.hpp"
#include "row_session.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Runs the problem of the comparison. Every run starts from the initial field.
template <typename T>
class TimedSolve : public Timed<T> {
 public:
  /// The first run, from nothing, see time_first_run(). Comes before everything else. `field` is
  /// the initial field before and the result after.
  virtual FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) = 0;
  /// A warm run end to end. `field` as in first_run.
  virtual Phases full_run(std::span<T> field, std::int64_t steps) = 0;
  /// For a proof, after the first run: `steps` of the same problem from another field, which then
  /// holds the result. False, and nothing is done, where only the comparison's field can be run.
  virtual bool run_from(Field<T>& /*field*/, std::int64_t /*steps*/) { return false; }
  /// For a proof: a session as this one's of another problem, which no observer hears of. Null of
  /// what is no session.
  [[nodiscard]] virtual std::unique_ptr<Session<T>> session_for(const Problem& /*problem*/) {
    return nullptr;
  }
  /// Gives back what it holds; only another first_run() of a session may follow. Returns the
  /// seconds that it took, where that is a part of its runs.
  virtual std::optional<double> release() { return std::nullopt; }
};

/// A backend in this process. `initial` is the field that samples are uploaded from; it must stay
/// valid, and hold the initial field whenever sample() is called.
template <typename T, typename Clock = SteadyClock>
class TimedSession final : public TimedSolve<T> {
 public:
  TimedSession(PlannedRow planned, const Problem& problem, std::span<const T> initial,
               Observer& observer = nobody())
      : planned_(std::move(planned)), problem_(problem), initial_(initial), observer_(observer) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    return time_first_run<Clock>(
        [this]() -> std::unique_ptr<Session<T>> {
          return std::make_unique<InterruptibleSession<T, Clock>>(
              make_session<T>(planned_, problem_, observer_));
        },
        session_, field, steps, limit_seconds);
  }
  void fetch(std::span<T> field) override { session_->download(field); }
  Sample sample(std::int64_t steps) override {
    return time_steps<Clock>(*session_, initial_, steps, observer_);
  }
  Phases full_run(std::span<T> field, std::int64_t steps) override {
    return time_end_to_end<Clock>(*session_, field, steps);
  }
  bool run_from(Field<T>& field, std::int64_t steps) override {
    if (session_ == nullptr) { // released: its memory was wanted
      session_ = make_session<T>(planned_, problem_, nobody());
    }
    time_end_to_end<Clock>(*session_, field.cells(), steps);
    return true;
  }
  std::unique_ptr<Session<T>> session_for(const Problem& problem) override {
    PlannedRow planned = planned_;
    if (planned.ranks != nullptr) { // no trials; as deep as the rows of the least rank allow
      const std::int64_t deepest = cluster::deepest_halo(problem, planned.ranks->size());
      planned.halo_depth = std::min(deepest, planned.halo_depth > 0 ? planned.halo_depth : 8);
    }
    return make_session<T>(planned, problem, nobody());
  }
  std::optional<double> release() override {
    if (session_ == nullptr) {
      return std::nullopt;
    }
    const Stopwatch<Clock> watch;
    session_.reset();
    return watch.seconds();
  }
  [[nodiscard]] Provenance provenance() const override { return session_->provenance(); }

 private:
  PlannedRow planned_;
  Problem problem_;
  std::span<const T> initial_;
  Observer& observer_;
  std::unique_ptr<Session<T>> session_;
};

template <typename T>
struct SolveContender : Contender<Row, TimedSolve<T>> {
  std::int64_t period = 0;    ///< PlannedRow::visits_host_every()
  std::int64_t host_need = 0; ///< bytes that its session takes, as far as known
  Absence absence = Absence::skips_row;
};

/// A run of a row, until it is destroyed; of emulated rows, whose times mean nothing, nobody hears.
[[nodiscard]] inline Observed observe_run(Observer& observer, const Row& row, const char* what,
                                          std::int64_t steps) {
  return Observed(row.emulated() ? nobody() : observer,
                  {.kind = Span::Kind::run, .name = what, .row = row.name, .steps = steps});
}

/// `initial` as in TimedSession.
template <typename T>
SolveContender<T> backend_contender(const RowPlan& plan, const Problem& problem,
                                    const PlannedRow& planned, std::span<const T> initial,
                                    Observer& observer) {
  const BackendInfo& backend = planned.backend;
  SolveContender<T> contender;
  Row& row = contender.row;
  row.name = planned.row_name();
  row.device = backend.device;
  row.roundtrip_every = planned.roundtrip_every;
  row.snapshot_every = planned.snapshot_every;
  row.kernel = backend.name;
  if (row.on_device()) {
    row.transfer = planned.session.transfer;
    row.overlapped = planned.session.async;
  }
  if ((row.on_device() && plan.device_chosen) ||
      std::ranges::find(plan.backends, backend.name) != plan.backends.end()) {
    contender.absence = Absence::fails_row;
  }
  contender.period = planned.visits_host_every();
  if (!planned.probe.available) {
    row.status = Status::skipped;
    row.reason = planned.probe.reason;
    return contender;
  }
  contender.timed = std::make_unique<TimedSession<T>>(planned, problem, initial,
                                                      row.emulated() ? nobody() : observer);
  if (backend.memory_need != nullptr && planned.ranks == nullptr) {
    const MemoryNeed need = backend.memory_need(problem, planned.session);
    contender.host_need = need.host;
    if (row.on_device()) {
      row.peak_device_bytes = need.device;
    }
  }
  return contender;
}

} // namespace diffbench::bench
