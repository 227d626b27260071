// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include "interrupt.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr int ending_signals[] = {SIGQUIT, SIGUSR1, SIGUSR2, SIGABRT};
termios restored{}; // for the handler: set before it is

/// Calls nothing but what a handler may (signal-safety(7)).
void restore() noexcept {
  constexpr std::string_view cursor = "\033[?25h";
  ::tcsetattr(STDIN_FILENO, TCSANOW, &restored);
  [[maybe_unused]] const ssize_t ignored = ::write(STDOUT_FILENO, cursor.data(), cursor.size());
}

void restore_and_end(int signal) {
  restore();
  ::raise(signal); // its own default now, by SA_RESETHAND
}

void on_ending_signals(void (*handler)(int)) {
  for (const int signal : ending_signals) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) { // as nohup has it
      continue;
    }
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace

Keys::Keys() {
  termios now{};
  // From the background the change would stop the program.
  if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp() || ::tcgetattr(STDIN_FILENO, &now) != 0) {
    return;
  }
  before_ = now;
  restored = now;
  on_ending_signals(restore_and_end);
  before_sudden_end(restore);
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO); // Ctrl-C stays a signal
  now.c_cc[VQUIT] = now.c_cc[VSUSP] = _POSIX_VDISABLE;
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

Keys::~Keys() {
  if (before_) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &*before_); // the key is not for the shell
    on_ending_signals(SIG_DFL);
    before_sudden_end(nullptr);
  }
}

bool Keys::pressed_within(double seconds) const {
  pollfd stdin_ready{STDIN_FILENO, POLLIN, 0};
  const int milliseconds = static_cast<int>(std::ceil(1e3 * std::max(0.0, seconds)));
  return ::poll(&stdin_ready, before_ ? 1 : 0, milliseconds) > 0;
}

void require_reader() {
  pollfd out{STDOUT_FILENO, 0, 0}; // errors only
  if (::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0) {
    throw OutputClosed("stdout was closed");
  }
}

void Screen::show(const std::string& lines) {
  // From the first line of the one before; what it had to the right and below is wiped.
  std::string text = height_ > 0 ? fmt::format("\033[{}A\r", height_) : "";
  std::size_t begin = 0;
  for (std::size_t end = lines.find('\n'); end != std::string::npos;
       end = lines.find('\n', begin)) {
    text.append(lines, begin, end - begin).append("\033[K\n");
    begin = end + 1;
  }
  height_ = std::ranges::count(lines, '\n');
  write_out(out_, text + "\033[J");
}

Ink ink_of_terminal() {
  const auto is_set = [](const char* text) { return text != nullptr && *text != '\0'; };
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* locale = std::getenv(name); is_set(locale)) {
      const std::string_view text = locale;
      const bool utf8 = text.ends_with("UTF-8") || text.ends_with("utf8");
      return utf8 && !is_set(std::getenv("NO_COLOR")) ? Ink::colours : Ink::characters;
    }
  }
  return Ink::characters;
}

} // namespace diffbench::bench
