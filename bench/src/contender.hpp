// What the comparison knows of the thing behind a row, be it a session of a backend in this process
// or a peer in another one.
#pragma once

#include "diffbench/backend.hpp"
#include "result.hpp"
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
  [[nodiscard]] virtual Provenance provenance() const = 0;
  /// Peak memory where the contender knows it better than this process: it runs in another one.
  [[nodiscard]] virtual std::optional<std::int64_t> own_peak_bytes() const { return std::nullopt; }
};

/// A backend in this process. `initial` is the field that samples are uploaded from; it must stay
/// valid, and hold the initial field whenever sample() is called.
template <typename T, typename Clock = std::chrono::steady_clock>
class SessionContender final : public Contender<T> {
 public:
  SessionContender(const BackendInfo& backend, const Problem& problem,
                   const SessionOptions& options, std::span<const T> initial)
      : make_(backend.make<T>()), problem_(problem), options_(options), initial_(initial) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    return time_first_run<Clock>([this] { return make_(problem_, options_); }, session_, field,
                                 steps, limit_seconds);
  }
  void fetch(std::span<T> field) override { session_->download(field); }
  Sample sample(std::int64_t steps) override {
    return time_steps<Clock>(*session_, initial_, steps);
  }
  Phases full_run(std::span<T> field, std::int64_t steps) override {
    return time_end_to_end<Clock>(*session_, field, steps);
  }
  [[nodiscard]] Provenance provenance() const override { return session_->provenance(); }

 private:
  MakeSession<T> make_;
  Problem problem_;
  SessionOptions options_;
  std::span<const T> initial_;
  std::unique_ptr<Session<T>> session_;
};

} // namespace diffbench::bench
