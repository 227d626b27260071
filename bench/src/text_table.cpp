#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

std::string TextTable::format() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const Cells& row : rows_) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  std::size_t line = 0;
  for (const Cells& row : rows_) {
    text += fmt::format("{:<{}}", row.front(), widths.front());
    for (std::size_t column = 1; column < widths.size(); ++column) {
      text += fmt::format("  {:>{}}", row[column], widths[column]);
    }
    text += '\n';
    if (line++ == 0) {
      std::size_t total = 2 * (widths.size() - 1);
      for (const std::size_t width : widths) {
        total += width;
      }
      text += std::string(total, '-') + '\n';
    }
  }
  return text;
}

} // namespace diffbench::bench
