// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr for work longer than two seconds.
#pragma once

#include "diffbench/stopwatch.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace diffbench::bench {

/// Whether stderr is a terminal that can redraw a line (TERM=dumb cannot). The line has no
/// colours, so NO_COLOR asks nothing of it.
[[nodiscard]] bool progress_possible();

/// Work of so many seconds shows no progress.
inline constexpr double longest_without_progress = 2;

/// Draws "stage [=====     ] 50 %", over itself, at most ten times a second. Nothing is drawn in
/// the first two seconds of its life, and nothing is left behind when it ends.
class Progress {
 public:
  /// `now` can be a test's own clock.
  Progress(std::ostream& out, bool enabled, SteadyClock::time_point (*now)() = SteadyClock::now)
      : out_(out), enabled_(enabled), now_(now) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Says what is to be said once work begins, at the first stage: not before what may be refused.
  void before_work(std::function<void()> say) { say_ = std::move(say); }
  void stage(std::string name);
  /// What stages belong to, shown before their names: "3 of 10: ".
  void within(std::string whole);
  /// `fraction` of the stage, 0 to 1.
  void update(double fraction);
  /// Wipes the line, so that something else can be written.
  void clear() noexcept;

 private:
  std::ostream& out_;
  bool enabled_;
  SteadyClock::time_point (*now_)();
  std::function<void()> say_;
  bool drawn_ = false;
  std::string whole_;
  std::string stage_;
  SteadyClock::time_point start_ = now_();
  SteadyClock::time_point last_drawn_{};
};

} // namespace diffbench::bench
