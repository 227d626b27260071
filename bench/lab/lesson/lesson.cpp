// SPDX-License-Identifier: Apache-2.0
#include "lesson.hpp"

namespace diffbench::bench::lesson {

std::vector<Lesson> all_lessons() {
  return {diffusion_lesson(), width_lesson(), depth_lesson(), thread_lesson(), latency_lesson()};
}

std::string worded(std::string_view words, bool quick) {
  std::string text;
  while (true) {
    const std::size_t open = words.find('{');
    text += words.substr(0, open);
    if (open == std::string_view::npos) {
      return text;
    }
    const std::size_t bar = words.find('|', open);
    const std::size_t close = words.find('}', bar);
    text += quick ? words.substr(bar + 1, close - bar - 1) : words.substr(open + 1, bar - open - 1);
    words.remove_prefix(close + 1);
  }
}

} // namespace diffbench::bench::lesson
