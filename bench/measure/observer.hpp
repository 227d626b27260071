// SPDX-License-Identifier: Apache-2.0
// Who is told of a measurement while it runs: the trace and the telemetry. What measures knows only
// this interface. With nobody listening it costs a few calls of empty functions outside of all
// times.
#pragma once

#include "result.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// A part of a measurement that lasts. Parts nest, the kinds in this order.
struct Span {
  enum class Kind {
    stage, ///< of the whole comparison, one after the other: "reference", "timing"
    run,   ///< of one row: "cold run", "sample", "warm run"
    timed, ///< what the clock of a sample measures
    call,  ///< of a session
  };
  Kind kind{};
  std::string_view name;
  std::string_view row = {}; ///< of a run
  std::int64_t steps = 0;    ///< time steps of a run, of what is timed of it, of a call
};

/// All calls come from the measuring thread. An Observer outlives what it observes.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  virtual void begin(const Span& /*span*/) {}
  /// Of the span that began last and has not ended. `account`: where the time of a call went, from
  /// sessions that know; otherwise nullptr.
  virtual void end(const PhaseTimes* /*account*/) {}
  /// The row has made its first run: what it runs on is known.
  virtual void first_run_done(const Row& /*row*/) {}
  /// Whether it wants to hear of calls, which come inside of a sample's time.
  [[nodiscard]] virtual bool wants_calls() const { return false; }
};

/// Stands where nobody observes.
inline Observer& nobody() {
  static Observer observer;
  return observer;
}

/// A span that ends with its scope, also when something throws.
class Observed {
 public:
  Observed(Observer& observer, const Span& span) : observer_(observer) { observer.begin(span); }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed() { observer_.end(account_); }

  /// What end() will be told; `account` must outlive this.
  void set_account(const PhaseTimes& account) { account_ = &account; }

 private:
  Observer& observer_;
  const PhaseTimes* account_ = nullptr;
};

/// Passes on what it is told.
class ObserverList final : public Observer {
 public:
  void add(Observer& observer) { observers_.push_back(&observer); }

  void begin(const Span& span) override {
    for (Observer* observer : observers_) {
      observer->begin(span);
    }
  }
  void end(const PhaseTimes* account) override {
    for (Observer* observer : observers_) {
      observer->end(account);
    }
  }
  void first_run_done(const Row& row) override {
    for (Observer* observer : observers_) {
      observer->first_run_done(row);
    }
  }
  [[nodiscard]] bool wants_calls() const override {
    for (const Observer* observer : observers_) {
      if (observer->wants_calls()) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<Observer*> observers_;
};

} // namespace diffbench::bench
