#include "progress.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace diffbench::bench {

bool progress_possible() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

void Progress::stage(std::string name) {
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
  constexpr int width = 30;
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
