// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks for an orderly end that keeps what was measured, a second one, half a
// second later or more, ends the program at once.
#pragma once

#include <array>
#include <csignal>
#include <stdexcept>

namespace diffbench::bench {

/// Thrown where work is given up because interrupted() became true.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// While it lives, SIGINT, SIGTERM, SIGQUIT and SIGHUP (unless it is ignored, as nohup has it) only
/// set a flag, which work that takes long asks for several times a second. At most one lives at a
/// time.
class InterruptGuard {
 public:
  /// With `tells` the first signal is answered by a line on stderr.
  explicit InterruptGuard(bool tells = false);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  std::array<struct sigaction, 4> previous_{};
};

/// As if a signal had come: to another process, for which this one answers.
void request_interrupt() noexcept;

/// Whether a signal has come since the guard was made.
[[nodiscard]] bool interrupted() noexcept;
/// Throws Interrupted after a signal.
void check_interrupt();

} // namespace diffbench::bench
