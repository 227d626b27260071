// The course of a comparison, whatever is compared: each contestant is verified or given up, then
// those that are left are timed in interleaved rounds.
//
// A template over the contestants, the clock, and who says that the user wants an end: the tests
// use fakes of all.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "observer.hpp"
#include "progress.hpp"
#include "rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What becomes of a row whose contender is Unavailable.
enum class Absence {
  skips_row,
  fails_row, ///< it was asked for
  ends_all,  ///< the comparison cannot be made without it
};

/// `Entrant` is a Contestant with an `Absence absence`.
template <typename Entrant, typename Clock = SteadyClock>
class Competition {
 public:
  using Stop = bool (*)() noexcept;

  explicit Competition(Progress& progress, Observer& observer = nobody(), Stop stop = interrupted)
      : progress_(progress), observer_(observer), stop_(stop) {}

  void enter(Entrant entrant) { entrants_.push_back(std::move(entrant)); }
  [[nodiscard]] std::span<Entrant> entrants() { return entrants_; }

  /// A part of the measurement that the user and the observer are told of, until it is destroyed.
  [[nodiscard]] Observed stage(const std::string& name) {
    progress_.stage(name);
    return Observed(observer_, {.kind = Span::Kind::stage, .name = name});
  }

  /// `verify(entrant)` says in the row whether it is right, and leaves a contender where it is to
  /// be timed. An entrant for which it throws is given up. Throws Interrupted, and Unavailable of
  /// one that ends all.
  template <typename Verify>
  void verify(Verify verify) {
    std::size_t done = 0;
    for (Entrant& entrant : entrants_) {
      if (entrant.row.status == Status::ok) {
        const Observed span = stage("verifying " + entrant.row.name);
        progress_.update(static_cast<double>(done) / static_cast<double>(entrants_.size()));
        check_interrupt();
        try {
          verify(entrant);
        } catch (const Unavailable& error) {
          if (entrant.absence == Absence::ends_all) {
            throw;
          }
          entrant.row.missing = entrant.absence == Absence::fails_row;
          give_up(entrant, entrant.row.missing ? Status::failed : Status::skipped, error.what());
        } catch (const std::exception& error) {
          give_up(entrant, Status::failed, error.what());
        }
      }
      ++done;
    }
  }

  /// How many are still to be timed.
  [[nodiscard]] std::ptrdiff_t rows() const {
    return std::ranges::count_if(entrants_, [](const Entrant& e) { return !!e.contender; });
  }

  /// `plan(entrant, share)` says which samples to take, where `share` is that of each row in
  /// `budget_seconds`; see run_rounds().
  template <typename Plan>
  void time(double budget_seconds, double limit_seconds, Plan plan) {
    const double share = budget_seconds / static_cast<double>(std::max<std::ptrdiff_t>(1, rows()));
    for (Entrant& entrant : entrants_) {
      entrant.plan = plan(std::as_const(entrant), share);
    }
    const Observed span = stage("timing");
    run_rounds<Clock>(
        entrants(), limit_seconds, stop_,
        [&](int done, int all) {
          progress_.update(static_cast<double>(done) / static_cast<double>(all));
        },
        observer_);
  }

  /// Throws Interrupted when the user wants an end.
  void check_interrupt() const {
    if (stop_()) {
      throw Interrupted();
    }
  }
  /// What Ctrl-C cut off (a peer dies of it, too) is not at fault: throws Interrupted.
  void give_up(Entrant& entrant, Status status, std::string reason) const {
    entrant.contender.reset();
    check_interrupt();
    entrant.give_up(status, std::move(reason));
  }

  /// The end: all rows, in the order in which they were entered.
  [[nodiscard]] auto take_rows() {
    std::vector<decltype(Entrant::row)> rows;
    for (Entrant& entrant : entrants_) {
      auto& row = entrant.row;
      const bool has_result = row.wrong() || (row.verified() && row.without_time());
      if (row.status == Status::ok && row.samples.empty() && !has_result) {
        row.status = Status::skipped;
        row.reason = "interrupted before it was timed";
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Progress& progress_;
  Observer& observer_;
  Stop stop_;
  std::vector<Entrant> entrants_;
};

} // namespace diffbench::bench
