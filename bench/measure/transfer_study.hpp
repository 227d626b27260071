// SPDX-License-Identifier: Apache-2.0
// What page-locking host memory costs and gains: the same copies with and without it, in turns.
//
// A template over the clock and over how sessions are made, so that the tests need no device.
#pragma once

#include "diffbench/stopwatch.hpp"
#include "ratio.hpp"
#include "statistics.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace diffbench::bench {

/// Trips that are measured of each kind; the median counts.
inline constexpr int study_trips = 9;

/// One session, and what its trips took.
template <typename Clock, typename T>
class TransferLane {
 public:
  template <typename Make>
  TransferLane(Make make, std::span<T> field) {
    const Stopwatch<Clock> watch;
    session_ = make();
    setup_seconds_ = watch.seconds();
    if (const auto account = session_->take_phases()) {
      setup_seconds_ = account->alloc + account->pin; // not the context, which all share
    }
    host_ = host_side(*session_, field);
    copy_cells(field, host_);
  }

  void trip() {
    const Stopwatch<Clock> up;
    session_->upload(host_);
    up_.push_back(up.seconds());
    const Stopwatch<Clock> down;
    session_->download(host_);
    down_.push_back(down.seconds());
  }
  void forget_trips() {
    up_.clear();
    down_.clear();
  }

  [[nodiscard]] double setup_seconds() const { return setup_seconds_; }
  [[nodiscard]] std::vector<double> trips() const {
    std::vector<double> seconds = up_;
    std::ranges::transform(seconds, down_, seconds.begin(), std::plus());
    return seconds;
  }
  [[nodiscard]] TransferStudy::CopySeconds medians() const {
    return {.h2d = quartiles(up_).median, .d2h = quartiles(down_).median};
  }

 private:
  std::unique_ptr<Session<T>> session_;
  double setup_seconds_ = 0;
  std::span<T> host_;
  std::vector<double> up_;
  std::vector<double> down_;
};

/// `make(transfer)` makes a session on the device; the cells of `field` are copied and come back.
/// The caller fills in the backend's name.
template <typename Clock, typename T, typename Make>
TransferStudy study_transfers(Make make, Transfer chosen, std::span<T> field) {
  TransferLane<Clock, T> ordinary([&] { return make(Transfer::pageable); }, field);
  TransferLane<Clock, T> locked([&] { return make(chosen); }, field);
  for (int i = 0; i <= study_trips; ++i) {
    ordinary.trip();
    locked.trip();
    if (i == 0) { // the first one touches fresh memory
      ordinary.forget_trips();
      locked.forget_trips();
    }
  }
  return {.backend = {},
          .transfer = chosen,
          .bytes = static_cast<std::int64_t>(field.size_bytes()),
          .setup_seconds = locked.setup_seconds() - ordinary.setup_seconds(),
          .pageable = ordinary.medians(),
          .chosen = locked.medians(),
          .is_open = !is_difference(
              judge(paired_ratio(locked.trips(), ordinary.trips()), least_effect_in_run))};
}

} // namespace diffbench::bench
