// SPDX-License-Identifier: Apache-2.0
// The timeline of a comparison in Chrome's trace format, which ui.perfetto.dev and chrome://tracing
// open: one track for the host thread, and one for each engine of a device, because viewers drop
// events that overlap on a track without nesting.
//
// Format: "Trace Event Format" (Google, the Catapult project), complete events ("ph": "X").
#pragma once

#include "observer.hpp"
#include "value.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Nanoseconds of the steady clock.
[[nodiscard]] std::int64_t steady_nanoseconds();

/// On the host's track spans are where they were. A call of a session that keeps an account holds
/// its phases, in the order in which such calls go through them. The device's clock tells how long
/// an engine worked, not when: compute is shown from the first advance since the last wait, copies
/// at the end of the call that waited for them.
class TraceRecorder final : public Observer {
 public:
  /// Calls beyond `max_calls` are counted, not kept: a round trip every step makes millions.
  explicit TraceRecorder(std::function<std::int64_t()> now = steady_nanoseconds,
                         std::size_t max_calls = 100'000);

  void begin(const Span& span) override;
  void end(const PhaseTimes* account) override;
  void first_run_done(const Row& row) override;
  [[nodiscard]] bool wants_calls() const override { return true; }

  /// Adds what the first moments of its first cold and warm run were to each row that had one.
  void report(ComparisonResult& result) const;
  /// Once all spans have ended. `command` is kept in it.
  [[nodiscard]] Value to_json(const std::string& command) const;

 private:
  enum Track : std::size_t { host, h2d, compute, d2h, tracks };
  struct Event {
    Track track;
    const char* category;
    std::string name;
    std::int64_t begin; ///< nanoseconds from the recorder's start
    std::int64_t end;
    std::string row = {};
    std::int64_t steps = 0;
  };
  struct Open {
    Span::Kind kind;
    std::int64_t begin;
    std::optional<std::size_t> event; ///< empty: not kept
  };

  [[nodiscard]] std::vector<Moment> moments(const std::string& row, std::string_view run) const;
  [[nodiscard]] std::int64_t now() const { return now_() - start_; }
  void add_phases(const Open& call, const PhaseTimes& account, std::int64_t end);
  void add_engines(const Open& call, const PhaseTimes& account, std::int64_t end);
  void add_engine(Track track, const char* name, std::int64_t begin, std::int64_t end);

  std::function<std::int64_t()> now_;
  std::size_t max_calls_;
  std::int64_t start_;
  std::vector<Event> events_; ///< in the order of their begins, outer ones first
  std::vector<Open> open_;
  std::string row_;                                ///< that runs
  std::string device_;                             ///< name of the one that rows run on
  std::optional<std::int64_t> work_since_;         ///< the first advance since the last wait
  std::array<std::int64_t, tracks> engine_free_{}; ///< end of the latest event of each
  std::size_t calls_ = 0;
};

} // namespace diffbench::bench
