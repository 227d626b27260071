// SPDX-License-Identifier: Apache-2.0
// The course of a comparison, whatever is compared: each contender is verified or given up, then
// those that are left are timed in interleaved rounds.
//
// A template over the contenders, the clock, and who says that the user wants an end: the tests
// use fakes of all.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "observer.hpp"
#include "progress.hpp"
#include "rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What becomes of a row whose timed is Unavailable.
enum class Absence {
  skips_row,
  fails_row, ///< it was asked for
  ends_all,  ///< the comparison cannot be made without it
};

/// `Contender` is a Contender with an `Absence absence`.
template <typename Contender, typename Clock = SteadyClock>
class Competition {
 public:
  using Stop = bool (*)() noexcept;

  /// `load` watches for others from its making on.
  explicit Competition(Progress& progress, Observer& observer = nobody(), Stop stop = interrupted,
                       LoadWatch load = LoadWatch())
      : progress_(progress), observer_(observer), stop_(stop), load_(std::move(load)) {}

  void enter(Contender contender) { contenders_.push_back(std::move(contender)); }
  [[nodiscard]] std::span<Contender> contenders() { return contenders_; }

  /// A part of the measurement that the user and the observer are told of, until it is destroyed.
  [[nodiscard]] Observed stage(const std::string& name) {
    progress_.stage(name);
    return Observed(observer_, {.kind = Span::Kind::stage, .name = name});
  }

  /// `verify(contender)` says in the row whether it is right, and leaves `timed` where it is to
  /// be timed. A contender for which it throws is given up. Throws Interrupted, and Unavailable of
  /// one that ends all. `what` is told to the user.
  template <typename Verify>
  void verify(Verify verify, std::string_view what = "verifying") {
    std::size_t done = 0;
    for (Contender& contender : contenders_) {
      if (contender.row.status == Status::ok) {
        const Observed span = stage(fmt::format("{} {}", what, contender.row.name));
        progress_.update(static_cast<double>(done) / static_cast<double>(contenders_.size()));
        check_interrupt();
        try {
          verify(contender);
        } catch (const Unavailable& error) {
          if (contender.absence == Absence::ends_all) {
            throw;
          }
          contender.row.missing = contender.absence == Absence::fails_row;
          give_up(contender, contender.row.missing ? Status::failed : Status::skipped,
                  error.what());
        } catch (const std::exception& error) {
          give_up(contender, Status::failed, error.what());
        }
      }
      ++done;
    }
  }

  /// How many are still to be timed.
  [[nodiscard]] std::ptrdiff_t rows() const {
    return std::ranges::count_if(contenders_, [](const Contender& e) { return !!e.timed; });
  }

  /// `plan(contender, share)` says which samples to take, where `share` is that of each row in
  /// `budget_seconds`; see run_rounds().
  template <typename Plan>
  void time(double budget_seconds, double limit_seconds, Plan plan) {
    const double share = budget_seconds / static_cast<double>(std::max<std::ptrdiff_t>(1, rows()));
    for (Contender& contender : contenders_) {
      if (contender.timed) {
        contender.plan = plan(std::as_const(contender), share);
      }
    }
    const Observed span = stage("timing");
    run_rounds<Clock>(
        contenders(), limit_seconds, stop_,
        [&](int done, int all) {
          progress_.update(static_cast<double>(done) / static_cast<double>(all));
        },
        observer_, &load_);
  }

  /// Throws Interrupted when the user wants an end.
  void check_interrupt() const {
    if (stop_()) {
      throw Interrupted();
    }
  }
  /// What Ctrl-C cut off (a peer dies of it, too) is not at fault: throws Interrupted.
  void give_up(Contender& contender, Status status, std::string reason) const {
    contender.timed.reset();
    check_interrupt();
    contender.give_up(status, std::move(reason));
  }

  /// The end: all rows, in the order in which they were entered.
  [[nodiscard]] auto take_rows() {
    std::vector<decltype(Contender::row)> rows;
    for (Contender& contender : contenders_) {
      auto& row = contender.row;
      const bool has_result = row.wrong() || (row.verified() && row.without_time());
      if (row.status == Status::ok && row.samples.empty() && !has_result) {
        row.status = Status::skipped;
        row.reason = "interrupted before it was timed";
      }
      allow_for_others(row.samples, load_.others_disturb());
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Progress& progress_;
  Observer& observer_;
  Stop stop_;
  LoadWatch load_;
  std::vector<Contender> contenders_;
};

} // namespace diffbench::bench
