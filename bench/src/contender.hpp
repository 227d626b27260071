// What the comparison knows of the thing behind a row, be it a session of a backend in this process
// or a peer in another one.
#pragma once

#include "diffbench/backend.hpp"
#include "observed_session.hpp"
#include "observer.hpp"
#include "result.hpp"
#include "round_trip.hpp"
#include "selection.hpp"
#include "slowed_session.hpp"
#include "snapshot_session.hpp"
#include "timing.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Runs the problem of the comparison. Every run starts from the initial field.
template <typename T>
class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  /// The first run, from nothing, see time_first_run(). Comes before everything else. `field` is
  /// the initial field before and the result after.
  virtual FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) = 0;
  /// The result of the latest run once more.
  virtual void fetch(std::span<T> field) = 0;
  /// One sample of `steps`, see time_steps().
  virtual Sample sample(std::int64_t steps) = 0;
  /// A warm run end to end. `field` as in first_run.
  virtual Phases full_run(std::span<T> field, std::int64_t steps) = 0;
  /// Gives back what it holds; only another first_run() of a session may follow. Returns the
  /// seconds that it took, where that is a part of its runs.
  virtual std::optional<double> release() { return std::nullopt; }
  [[nodiscard]] virtual Provenance provenance() const = 0;
  /// Peak memory where the contender knows it better than this process: it runs in another one.
  [[nodiscard]] virtual std::optional<std::int64_t> own_peak_bytes() const { return std::nullopt; }
};

/// The session of a row: of its backend, and visiting the host as often as the candidate says.
template <typename T>
std::unique_ptr<Session<T>> make_session(const Candidate& candidate, const Problem& problem,
                                         Observer& observer) {
  auto session = observed<T>(
      observer, [&] { return candidate.backend.make<T>()(problem, candidate.session); });
  if (candidate.slowdown > 0) {
    session = std::make_unique<SlowedSession<T>>(std::move(session), candidate.slowdown);
  }
  if (candidate.roundtrip_every > 0) {
    return std::make_unique<RoundTripSession<T>>(std::move(session), problem.cells(),
                                                 candidate.roundtrip_every);
  }
  if (candidate.snapshot_every > 0) {
    return std::make_unique<SnapshotSession<T>>(std::move(session), problem.cells(),
                                                candidate.snapshot_every);
  }
  return session;
}

/// A backend in this process. `initial` is the field that samples are uploaded from; it must stay
/// valid, and hold the initial field whenever sample() is called.
template <typename T, typename Clock = std::chrono::steady_clock>
class SessionContender final : public Contender<T> {
 public:
  SessionContender(Candidate candidate, const Problem& problem, std::span<const T> initial,
                   Observer& observer = nobody())
      : candidate_(std::move(candidate)),
        problem_(problem),
        initial_(initial),
        observer_(observer) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    return time_first_run<Clock>(
        [this] { return make_session<T>(candidate_, problem_, observer_); }, session_, field, steps,
        limit_seconds);
  }
  void fetch(std::span<T> field) override { session_->download(field); }
  Sample sample(std::int64_t steps) override {
    return time_steps<Clock>(*session_, initial_, steps, observer_);
  }
  Phases full_run(std::span<T> field, std::int64_t steps) override {
    return time_end_to_end<Clock>(*session_, field, steps);
  }
  std::optional<double> release() override {
    const auto start = Clock::now();
    session_.reset();
    return seconds_since<Clock>(start);
  }
  [[nodiscard]] Provenance provenance() const override { return session_->provenance(); }

 private:
  Candidate candidate_;
  Problem problem_;
  std::span<const T> initial_;
  Observer& observer_;
  std::unique_ptr<Session<T>> session_;
};

} // namespace diffbench::bench
