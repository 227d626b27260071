// What the comparison knows of the thing behind a row, be it a session of a backend in this process
// or a peer in another one.
#pragma once

#include "diffbench/backend.hpp"
#include "result.hpp"
#include "round_trip.hpp"
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
  /// Gives back what it holds; nothing else may be called after. Returns the seconds that it took,
  /// where that is a part of its runs.
  virtual std::optional<double> release() { return std::nullopt; }
  [[nodiscard]] virtual Provenance provenance() const = 0;
  /// Peak memory where the contender knows it better than this process: it runs in another one.
  [[nodiscard]] virtual std::optional<std::int64_t> own_peak_bytes() const { return std::nullopt; }
};

/// A backend in this process. `initial` is the field that samples are uploaded from; it must stay
/// valid, and hold the initial field whenever sample() is called. With `roundtrip_every` > 0 its
/// sessions are RoundTripSessions.
template <typename T, typename Clock = std::chrono::steady_clock>
class SessionContender final : public Contender<T> {
 public:
  SessionContender(const BackendInfo& backend, const Problem& problem,
                   const SessionOptions& options, std::span<const T> initial,
                   std::int64_t roundtrip_every = 0)
      : make_(backend.make<T>()),
        problem_(problem),
        options_(options),
        initial_(initial),
        roundtrip_every_(roundtrip_every) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    return time_first_run<Clock>([this] { return make_session(); }, session_, field, steps,
                                 limit_seconds);
  }
  void fetch(std::span<T> field) override { session_->download(field); }
  Sample sample(std::int64_t steps) override {
    return time_steps<Clock>(*session_, initial_, steps);
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
  std::unique_ptr<Session<T>> make_session() const {
    auto session = make_(problem_, options_);
    if (roundtrip_every_ == 0) {
      return session;
    }
    return std::make_unique<RoundTripSession<T>>(std::move(session), problem_.cells(),
                                                 roundtrip_every_);
  }

  MakeSession<T> make_;
  Problem problem_;
  SessionOptions options_;
  std::span<const T> initial_;
  std::int64_t roundtrip_every_;
  std::unique_ptr<Session<T>> session_;
};

} // namespace diffbench::bench
