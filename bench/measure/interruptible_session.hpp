// SPDX-License-Identifier: Apache-2.0
// A session whose long calls can be interrupted.
#pragma once

#include "diffbench/pace.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "row_session.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace diffbench::bench {

/// Steps between which a backend is not to be cut: those of a sweep, or between two exchanges of
/// halos. 1 where it does not say.
[[nodiscard]] inline std::int64_t uncut_steps(const Provenance& provenance) {
  return provenance.halo_depth.value_or(
      provenance.resident ? 1 : std::max<std::int64_t>(1, provenance.sweep_depth.value_or(1)));
}

/// Cuts what would take long (see Pace) into calls that it waits for, and throws Interrupted
/// between two of them, or before the first, when the user wants an end. All else passes as it is:
/// a sample of less than Pace::longest_call is one call.
template <typename T, typename Clock = SteadyClock>
class InterruptibleSession final : public ForwardingSession<T> {
 public:
  using Stop = bool (*)() noexcept;

  explicit InterruptibleSession(std::unique_ptr<Session<T>> inner, Stop stop = interrupted)
      : stop_(stop) {
    this->inner_ = std::move(inner);
  }

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    this->inner_->upload_rows(first, cells);
    issued_ = 0; // it may have waited
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    this->inner_->download_rows(first, cells);
    issued_ = 0;
  }
  void advance(std::int64_t steps) override {
    while (steps > 0) {
      if (stop_()) {
        throw Interrupted();
      }
      std::int64_t count = pace_.next(steps);
      if (count < steps) {
        count = pace_.next(steps, uncut_steps(this->inner_->provenance()));
      }
      if (issued_ == 0) {
        watch_ = {};
      }
      this->inner_->advance(count);
      issued_ += count;
      steps -= count;
      if (steps > 0) {
        wait();
      }
    }
  }
  void wait() override {
    this->inner_->wait();
    if (issued_ > 0) {
      pace_.took(std::exchange(issued_, 0), watch_.seconds());
    }
  }

 private:
  Stop stop_;
  Pace pace_;
  Stopwatch<Clock> watch_;
  std::int64_t issued_ = 0; ///< steps since `watch_` was started, not waited for
};

} // namespace diffbench::bench
