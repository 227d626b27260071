// SPDX-License-Identifier: Apache-2.0
// A C++ source's lines as the preprocessor takes them: spliced, and without comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct PlainLine {
  int number = 1; ///< of the first line of the text that is in it
  std::string text;
};

/// What stands in texts (raw ones, too) stays, on the line where it begins; a comment is a space.
[[nodiscard]] std::vector<PlainLine> plain_lines(std::string_view source);

} // namespace diffbench::bench
