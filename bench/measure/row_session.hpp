// SPDX-License-Identifier: Apache-2.0
// The session of a row: that of its backend, behind wrappers where the row is to visit the host
// every few steps, to be slowed down, or to be watched.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/stopwatch.hpp"
#include "observer.hpp"
#include "selection.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// Passes every call on to another session; a wrapper overrides what it changes.
template <typename T>
class ForwardingSession : public Session<T> {
 public:
  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    inner_->upload_rows(first, cells);
  }
  void advance(std::int64_t steps) override { inner_->advance(steps); }
  void wait() override { inner_->wait(); }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    inner_->download_rows(first, cells);
  }
  void start_download(std::span<T> cells) override { inner_->start_download(cells); }
  [[nodiscard]] std::span<T> host_buffer() override { return inner_->host_buffer(); }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override { return inner_->take_phases(); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = inner_->provenance();
    provenance.details.insert(provenance.details.end(), details_.begin(), details_.end());
    return provenance;
  }

 protected:
  /// The row's provenance then says `value` of `detail`, too.
  ForwardingSession(std::unique_ptr<Session<T>> inner, std::string detail, std::string value)
      : inner_(std::move(inner)), details_{{std::move(detail), std::move(value)}} {}
  ForwardingSession() = default; ///< with an inner session to come

  std::unique_ptr<Session<T>> inner_;

 private:
  std::vector<std::pair<std::string, std::string>> details_;
};

/// What the calling thread used of a CPU.
struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ThreadClock, duration>;
  static time_point now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + duration(time.tv_nsec));
  }
};

/// A planted slowdown, with which is tested what is to find slowdowns: advance() blocks, and then
/// keeps the CPU busy for `fraction` of what it took. Time in which others had it is no work.
template <typename T, typename Clock = ThreadClock>
class SlowedSession final : public ForwardingSession<T> {
 public:
  SlowedSession(std::unique_ptr<Session<T>> inner, double fraction)
      : ForwardingSession<T>(std::move(inner), "planted_slowdown", std::to_string(fraction)),
        fraction_(fraction) {}

  void advance(std::int64_t steps) override {
    const Stopwatch<Clock> watch;
    this->inner_->advance(steps);
    this->inner_->wait();
    const double end = watch.seconds() * (1 + fraction_);
    while (watch.seconds() < end) {
    }
  }

 private:
  double fraction_;
};

/// A session that visits the host after every so many steps, counted from the latest upload of the
/// whole field on. Of an inner session that keeps no account of its phases, one on the CPU, it does
/// so itself: copies are made inside of advance(), and would else pass for computation.
template <typename T, typename Clock = SteadyClock>
class VisitingSession : public ForwardingSession<T> {
 public:
  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    timed(&PhaseTimes::h2d, [&] { this->inner_->upload_rows(first, cells); });
    if (std::ssize(cells) == nx_ * ny_) {
      since_visit_ = 0;
    }
  }
  void wait() override {
    timed(&PhaseTimes::sync, [&] { this->inner_->wait(); });
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    timed(&PhaseTimes::d2h, [&] { this->inner_->download_rows(first, cells); });
  }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    const PhaseTimes calls = std::exchange(calls_, {});
    const std::optional<PhaseTimes> account = this->inner_->take_phases();
    return account ? account : calls;
  }

  void advance(std::int64_t steps) final {
    while (steps > 0) {
      const std::int64_t count = std::min(steps, every_ - since_visit_);
      timed(&PhaseTimes::compute, [&] { this->inner_->advance(count); });
      steps -= count;
      since_visit_ += count;
      if (since_visit_ == every_) {
        visit();
        since_visit_ = 0;
      }
    }
  }

 protected:
  /// `every` > 0; `problem` is that of `inner`.
  VisitingSession(std::unique_ptr<Session<T>> inner, const Problem& problem, std::int64_t every,
                  std::string detail)
      : ForwardingSession<T>(std::move(inner), std::move(detail), std::to_string(every)),
        nx_(problem.nx),
        ny_(problem.ny),
        every_(every) {
    if (this->inner_->host_buffer().empty()) {
      own_.resize(static_cast<std::size_t>(nx_ * ny_));
    }
  }

  virtual void visit() = 0;
  /// Runs `call` and adds its time to `phase`.
  template <typename Call>
  void timed(double PhaseTimes::*phase, Call call) {
    const Stopwatch<Clock> watch;
    call();
    calls_.*phase += watch.seconds();
  }
  /// Where the field comes to lie on the host: in the session's own memory if it has some.
  [[nodiscard]] std::span<T> host_field() {
    return own_.empty() ? this->inner_->host_buffer() : std::span<T>(own_);
  }
  /// Its rows from `first` on, as many as fit into `size` cells.
  [[nodiscard]] std::span<T> host_rows(std::int64_t first, std::size_t size) {
    return host_field().subspan(static_cast<std::size_t>(first * nx_), size);
  }
  /// No step has come after the latest visit.
  [[nodiscard]] bool just_visited() const { return since_visit_ == 0; }

 private:
  std::int64_t nx_;
  std::int64_t ny_;
  std::vector<T> own_;
  std::int64_t every_;
  std::int64_t since_visit_ = 0;
  PhaseTimes calls_; ///< by the host's clock, since the last take_phases()
};

/// The naive port: the field goes to the host and back every few steps, as it does when only the
/// inner loop of a program was moved to the device. It blocks in each trip: the copy back needs the
/// steps before it, and the steps after need the copy, so nothing can overlap.
template <typename T, typename Clock = SteadyClock>
class RoundTripSession final : public VisitingSession<T, Clock> {
 public:
  RoundTripSession(std::unique_ptr<Session<T>> inner, const Problem& problem, std::int64_t every)
      : VisitingSession<T, Clock>(std::move(inner), problem, every, "roundtrip_every") {}

 private:
  void visit() override {
    const std::span<T> host = this->host_field();
    this->timed(&PhaseTimes::d2h, [&] { this->inner_->download(host); });
    this->timed(&PhaseTimes::h2d, [&] { this->inner_->upload(host); });
  }
};

/// Snapshots: every few steps the field is copied to the host, as in a program that draws or saves
/// it; what the program then does with it is left out. Of a session with SessionOptions::async the
/// copies run beside the steps that follow; otherwise it blocks in each. The result of a run that
/// ends with a snapshot is that snapshot, so the check of the result is one of the copies, too.
template <typename T, typename Clock = SteadyClock>
class SnapshotSession final : public VisitingSession<T, Clock> {
  using Visiting = VisitingSession<T, Clock>;

 public:
  SnapshotSession(std::unique_ptr<Session<T>> inner, const Problem& problem, std::int64_t every)
      : Visiting(std::move(inner), problem, every, "snapshot_every") {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    Visiting::upload_rows(first, cells);
    any_ = false;
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    if (!any_ || !this->just_visited()) {
      Visiting::download_rows(first, cells);
      return;
    }
    this->wait();
    const std::span<T> snapshot = this->host_rows(first, cells.size());
    if (snapshot.data() != cells.data()) {
      this->timed(&PhaseTimes::d2h, [&] { std::ranges::copy(snapshot, cells.begin()); });
    }
  }

 private:
  void visit() override {
    this->wait(); // the place of the snapshot before is free once it has arrived
    this->timed(&PhaseTimes::d2h, [&] { this->inner_->start_download(this->host_field()); });
    any_ = true;
  }

  bool any_ = false; ///< since the latest upload
};

/// Tells an observer of each call.
template <typename T>
class ObservedSession final : public ForwardingSession<T> {
 public:
  /// `make()` makes the session that does the work.
  template <typename Make>
  ObservedSession(Observer& observer, Make make) : observer_(observer) {
    call("make", [&] { this->inner_ = make(); });
  }
  ~ObservedSession() override {
    const Observed span(observer_, {.kind = Span::Kind::call, .name = "free"});
    this->inner_.reset();
  }

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    call("upload", [&] { this->inner_->upload_rows(first, cells); });
  }
  void advance(std::int64_t steps) override {
    call(
        "advance", [&] { this->inner_->advance(steps); }, steps);
  }
  void wait() override {
    call("wait", [&] { this->inner_->wait(); });
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    call("download", [&] { this->inner_->download_rows(first, cells); });
  }
  void start_download(std::span<T> cells) override {
    call("start_download", [&] { this->inner_->start_download(cells); });
  }
  /// The sum of what was taken after each call.
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    return std::exchange(sum_, std::nullopt);
  }

 private:
  template <typename Call>
  void call(std::string_view name, Call call, std::int64_t steps = 0) {
    std::optional<PhaseTimes> account; // lives until the span has ended
    Observed span(observer_, {.kind = Span::Kind::call, .name = name, .steps = steps});
    call();
    account = this->inner_->take_phases();
    if (account) {
      span.set_account(*account);
      sum_ = sum_.value_or(PhaseTimes{});
      for (double PhaseTimes::*phase :
           {&PhaseTimes::context, &PhaseTimes::alloc, &PhaseTimes::pin, &PhaseTimes::h2d,
            &PhaseTimes::launch, &PhaseTimes::compute, &PhaseTimes::sync, &PhaseTimes::d2h,
            &PhaseTimes::h2d_busy, &PhaseTimes::compute_busy, &PhaseTimes::d2h_busy}) {
        *sum_.*phase += *account.*phase;
      }
    }
  }

  Observer& observer_;
  std::optional<PhaseTimes> sum_;
};

/// Makes what the planned row says. An ordinary row's session is the backend's own, with nothing
/// before it.
template <typename T>
std::unique_ptr<Session<T>> make_session(const PlannedRow& planned, const Problem& problem,
                                         Observer& observer) {
  const auto make = [&]() -> std::unique_ptr<Session<T>> {
    if (planned.ranks != nullptr) {
      return planned.ranks->make_session<T>({.backend = std::string(planned.backend.name),
                                             .problem = problem,
                                             .options = planned.session,
                                             .depth = planned.halo_depth,
                                             .gpu_aware = planned.gpu_aware});
    }
    return planned.backend.make<T>()(problem, planned.session);
  };
  std::unique_ptr<Session<T>> session =
      observer.wants_calls() ? std::make_unique<ObservedSession<T>>(observer, make) : make();
  if (planned.slowdown > 0) {
    session = std::make_unique<SlowedSession<T>>(std::move(session), planned.slowdown);
  }
  if (planned.roundtrip_every > 0) {
    return std::make_unique<RoundTripSession<T>>(std::move(session), problem,
                                                 planned.roundtrip_every);
  }
  if (planned.snapshot_every > 0) {
    return std::make_unique<SnapshotSession<T>>(std::move(session), problem,
                                                planned.snapshot_every);
  }
  return session;
}

} // namespace diffbench::bench
