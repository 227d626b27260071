// SPDX-License-Identifier: Apache-2.0
// What a pitfall needs to measure the same work in two ways: solves whose result is proved, a
// clock, and rounds that interleave the two.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/verify.hpp"
#include "digest.hpp"
#include "foreign_load.hpp"
#include "interruptible_session.hpp"
#include "result.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// Both readings stand or fall with this: the work that was timed was not what it should be.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// A time as it is believed, and the samples behind it.
struct Reading {
  double seconds = 0;
  std::vector<Sample> samples; ///< empty: a single figure
};

struct Finding {
  Reading mistaken;
  Reading right;
  std::string detail = {}; ///< figures of this run, for the explanation; may be empty

  [[nodiscard]] double factor() const { return mistaken.seconds / right.seconds; }
};

/// One way of measuring a piece of work.
struct Way {
  std::function<double()> sample;  ///< does the work once; the seconds that this way reads
  std::function<bool()> was_right; ///< whether the latest sample did all of the work
};

/// `steps` of one backend from a random field (no zeros, no denormals), and the proof of the
/// result.
template <typename T>
class Solve {
 public:
  /// The field's values are uniform in [0, scale).
  Solve(const BackendInfo& backend, const Problem& problem, std::int64_t steps,
        const SessionOptions& options, double scale)
      : make_(backend.make<T>()),
        problem_(problem),
        options_(options),
        steps_(steps),
        initial_(problem.nx, problem.ny),
        result_(problem.nx, problem.ny) {
    fill_initial(problem, {.kind = InitialField::Kind::random, .seed = 1, .path = {}}, initial_);
    for (T& cell : initial_.cells()) {
      cell = static_cast<T>(static_cast<double>(cell) * scale);
    }
    std::ranges::copy(initial_.cells(), result_.cells().begin());
    advance_reference(problem, result_, steps);
    expected_ = sha256_of_cells(std::as_const(result_).cells());
  }

  /// Everything before the steps. Makes the session unless there is one.
  void start() {
    if (!session_) {
      session_ = std::make_unique<InterruptibleSession<T>>(make_(problem_, options_));
    }
    session_->upload(std::as_const(initial_).cells());
    session_->wait();
  }
  void run() {
    session_->advance(steps_);
    session_->wait();
  }
  /// The result to host memory.
  void finish() { session_->download(result_.cells()); }
  /// Goes on in the session of `other`, which has the same problem, and so in the same memory.
  void take_session(Solve& other) {
    if (other.session_) {
      session_ = std::move(other.session_);
    }
  }
  /// Gives the session back.
  void close() { session_.reset(); }

  [[nodiscard]] bool was_right() const { return is_result(result()); }
  /// Whether `cells` are, bit for bit, what the oracle's steps give.
  [[nodiscard]] bool is_result(std::span<const T> cells) const {
    return sha256_of_cells(cells) == expected_;
  }
  [[nodiscard]] Session<T>& session() { return *session_; }
  [[nodiscard]] std::span<const T> initial() const { return initial_.cells(); }
  [[nodiscard]] std::span<const T> result() const { return result_.cells(); }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  BackendInfo::Make<T> make_;
  Problem problem_;
  SessionOptions options_;
  std::int64_t steps_;
  Field<T> initial_;
  Field<T> result_;
  std::string expected_; ///< digest of the oracle's field
  std::unique_ptr<Session<T>> session_;
};

/// Seconds since the first call.
[[nodiscard]] double steady_seconds();

class Workbench {
 public:
  /// Throws Unavailable, with the reason, for a backend that cannot run here.
  using FindBackend = std::function<BackendInfo(std::string_view)>;

  /// The solves are of `problem`'s grid.
  /// `load` watches for others from its making on.
  Workbench(const Problem& problem, FindBackend find_backend, double (*clock)() = steady_seconds,
            LoadWatch load = LoadWatch())
      : problem_(problem),
        load_(std::move(load)),
        find_backend_(std::move(find_backend)),
        now_(clock) {}

  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// For the rounds of one pitfall; each takes a first sample whatever that lasts.
  void share(double seconds) { share_seconds_ = seconds; }
  [[nodiscard]] double now() const { return now_(); }

  template <typename Work>
  double seconds(Work&& work) const {
    const double start = now_();
    std::forward<Work>(work)();
    return now_() - start;
  }

  /// Throws Unavailable; also for an emulated device, whose times would mean nothing.
  template <typename T = float>
  [[nodiscard]] Solve<T> solve(std::string_view backend, std::int64_t steps,
                               const SessionOptions& options = {}, double scale = 1) const {
    return solve_of<T>(problem_, backend, steps, options, scale);
  }
  /// The same with another grid.
  template <typename T = float>
  [[nodiscard]] Solve<T> solve_of(Problem problem, std::string_view backend, std::int64_t steps,
                                  const SessionOptions& options = {}, double scale = 1) const {
    problem.dtype = dtype_of<T>;
    return Solve<T>(find_timed_backend(backend), problem, steps, options, scale);
  }

  /// What everybody should do: the steps alone are timed.
  template <typename T>
  [[nodiscard]] Way timed_steps(Solve<T>& solve) const {
    return {.sample =
                [this, &solve] {
                  solve.start();
                  const double read = seconds([&] { solve.run(); });
                  solve.finish();
                  return read;
                },
            .was_right = [&solve] { return solve.was_right(); }};
  }

  /// Each way once, untimed and verified; then samples in turns; the medians are the readings.
  /// Throws WrongResult, Interrupted, or what a way throws.
  [[nodiscard]] Finding in_turns(const Way& mistaken, const Way& right) const;

  /// Samples of one way, `count` or as many as the share affords, at least five, after one that is
  /// verified and not kept. `before(i)` is called before each. Throws as in_turns().
  [[nodiscard]] std::vector<Sample> samples(const Way& way, int count,
                                            const std::function<void(int)>& before = {}) const;

 private:
  [[nodiscard]] BackendInfo find_timed_backend(std::string_view name) const;

  Problem problem_;
  double share_seconds_ = 1;
  LoadWatch load_;
  FindBackend find_backend_;
  double (*now_)();
};

} // namespace diffbench::bench
