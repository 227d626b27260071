// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// Of the bar behind `name`: a line that is longer than the terminal could not be drawn over.
int bar_width(const std::string& name) {
  constexpr int usual = 30;
  constexpr int rest = 10; // " [] 100 %", and the cursor
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return usual;
  }
  return std::clamp(size.ws_col - rest - static_cast<int>(name.size()), 1, usual);
}

} // namespace

bool progress_possible() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

void Progress::stage(std::string name) {
  if (say_) {
    std::exchange(say_, nullptr)();
  }
  stage_ = std::move(name);
  last_drawn_ = {};
  update(0);
}

void Progress::within(std::string whole) { whole_ = std::move(whole); }

void Progress::update(double fraction) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto now = now_();
  if (!enabled_ || now - start_ < seconds(2) || now - last_drawn_ < milliseconds(100)) {
    return;
  }
  const int width = bar_width(whole_ + stage_);
  const double shown = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(shown * width);
  out_ << fmt::format("\r\033[K{}{} [{:=<{}}{: <{}}] {:3.0f} %", whole_, stage_, "", filled, "",
                      width - filled, 100 * shown)
       << std::flush;
  drawn_ = true;
  last_drawn_ = now;
}

void Progress::clear() noexcept {
  if (drawn_) {
    out_ << "\r\033[K" << std::flush;
    drawn_ = false;
  }
}

} // namespace diffbench::bench
