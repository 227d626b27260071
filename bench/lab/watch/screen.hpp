// SPDX-License-Identifier: Apache-2.0
// The terminal that a moving picture is shown on.
#pragma once

#include "text_picture.hpp"

#include <termios.h>
#include <optional>
#include <ostream>
#include <string>

namespace diffbench::bench {

/// Keys come one by one, without Enter and unseen, while it lives, Ctrl-\ and Ctrl-Z among them;
/// where stdin is no terminal of this program in the foreground, there are none. A signal that ends
/// the program (SIGQUIT, SIGUSR1 and 2, SIGABRT, a second SIGINT or SIGTERM) puts terminal
/// and cursor back first. One at a time.
class Keys {
 public:
  Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys();

  /// Waits so long for one, or for a signal. Takes all that there are.
  [[nodiscard]] bool pressed_within(double seconds) const;

 private:
  std::optional<termios> before_;
};

/// Pictures drawn one over the other, without a cursor.
class Screen {
 public:
  explicit Screen(std::ostream& out) : out_(out) { out_ << "\033[?25l"; }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { out_ << "\033[?25h" << std::flush; }

  /// Throws OutputClosed or Error where the text cannot be written.
  void show(const std::string& lines);

 private:
  std::ostream& out_;
  long height_ = 0; ///< of what is on it
};

/// Throws OutputClosed where stdout is a pipe or a terminal that nobody reads from any more.
void require_reader();

/// What the terminal of stdout can draw: half blocks take UTF-8 (LC_ALL, LC_CTYPE or LANG), and
/// NO_COLOR is obeyed (no-color.org).
[[nodiscard]] Ink ink_of_terminal();

} // namespace diffbench::bench
