// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "exit_code.hpp"

#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr std::array asking_signals = {SIGINT, SIGTERM, SIGHUP,
                                       SIGQUIT}; // a closed terminal asks, too

/// timeout(1) sends its signal to the program and then to the program's group: twice at once.
constexpr std::int64_t one_request_ns = 500'000'000;

std::atomic<std::int64_t> first_signal_ns = 0; ///< on the monotonic clock; 0: none has come
std::atomic<bool> tells_user = false;
static_assert(decltype(tells_user)::is_always_lock_free);
static_assert(decltype(first_signal_ns)::is_always_lock_free, "a signal handler may use it");

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

extern "C" void note_signal(int /*signal*/) {
  const std::int64_t now_ns = monotonic_ns();
  std::int64_t first = 0;
  if (first_signal_ns.compare_exchange_strong(first, now_ns)) {
    if (tells_user) {
      const int error = errno;
      // It starts where the progress line was.
      constexpr std::string_view line =
          "\r\033[Kdiffbench: finishing this step; Ctrl-C again ends at once\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
      errno = error;
    }
  } else if (now_ns - first > one_request_ns) {
    ::_exit(exit_interrupted);
  }
}

} // namespace

InterruptGuard::InterruptGuard(bool tells) {
  tells_user = tells;
  first_signal_ns = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  static_assert(asking_signals.size() == std::tuple_size_v<decltype(previous_)>);
  for (std::size_t i = 0; i < asking_signals.size(); ++i) {
    ::sigaction(asking_signals[i], &action, &previous_[i]);
    if (asking_signals[i] == SIGHUP && previous_[i].sa_handler == SIG_IGN) {
      ::sigaction(SIGHUP, &previous_[i], nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < asking_signals.size(); ++i) {
    ::sigaction(asking_signals[i], &previous_[i], nullptr);
  }
}

void request_interrupt() noexcept {
  std::int64_t none = 0;
  first_signal_ns.compare_exchange_strong(none, monotonic_ns());
}

bool interrupted() noexcept { return first_signal_ns != 0; }

void check_interrupt() {
  if (interrupted()) {
    throw Interrupted();
  }
}

} // namespace diffbench::bench
