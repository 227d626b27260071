// SPDX-License-Identifier: Apache-2.0
// How wide text may be that is for people.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace diffbench::bench {

struct TerminalSize {
  int columns = 80;
  int lines = 24;
};

/// Of the terminal that stdout, or this file, is; empty when it is none, or TERM is dumb.
[[nodiscard]] std::optional<TerminalSize> terminal_size(int file = 1);

/// Of all tables and sentences of this program: as wide as they like, until main says otherwise.
inline std::size_t text_width = std::numeric_limits<std::size_t>::max();

/// Of what is told on stderr, in the same way.
inline std::size_t error_width = std::numeric_limits<std::size_t>::max();

/// With --wide, tables keep also those columns that they can do without.
inline bool wide_tables = false;

/// `text` without lines longer than `width`, but for words that are longer. Commands ("$
/// ...") are broken at text_width alone, with backslashes, so that they can be copied. What does
/// not fit follows below: under the last column (behind two spaces or more) that leaves it a third
/// of the width, or where the line begins, a little further in where that is a label ("note: ") or
/// a dash.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width = text_width);

} // namespace diffbench::bench
