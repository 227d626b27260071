// SPDX-License-Identifier: Apache-2.0
#include "text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace diffbench::bench {

namespace {

constexpr std::size_t gap = 2;

} // namespace

/// The first column and those from `begin` to before `end`.
std::string TextTable::block(const std::vector<std::size_t>& widths, std::size_t begin,
                             std::size_t end) const {
  std::size_t total = widths.front();
  for (std::size_t column = begin; column < end; ++column) {
    total += gap + widths[column];
  }
  std::string text;
  for (const Cells& row : rows_) {
    text += fmt::format("{:<{}}", row.front(), widths.front());
    for (std::size_t column = begin; column < end; ++column) {
      text += words_ ? fmt::format("  {:<{}}", row[column], widths[column])
                     : fmt::format("  {:>{}}", row[column], widths[column]);
    }
    if (words_) {
      text.erase(text.find_last_not_of(' ') + 1); // a terminal would wrap the blanks
    }
    text += '\n';
    if (!words_ && &row == &rows_.front()) {
      text += std::string(total, '-') + '\n';
    }
  }
  return text;
}

void TextTable::drop(std::size_t column) {
  for (Cells& row : rows_) {
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  std::erase(optional_, column);
  for (std::size_t& other : optional_) {
    other -= other > column ? 1 : 0;
  }
}

void TextTable::drop_empty() {
  for (std::size_t column = rows_.front().size(); --column > 0;) {
    if (std::all_of(rows_.begin() + 1, rows_.end(),
                    [&](const Cells& row) { return row[column] == no_value; })) {
      drop(column);
    }
  }
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const Cells& row : rows_) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  return widths;
}

std::string TextTable::blocks(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths();
  std::string text;
  std::size_t begin = std::min<std::size_t>(1, widths.size());
  do {
    std::size_t end = begin;
    std::size_t used = widths.front();
    while (end < widths.size() && (end == begin || used + gap + widths[end] <= width)) {
      used += gap + widths[end++];
    }
    text += (begin > 1 ? "\n" : "") + block(widths, begin, end);
    begin = end;
  } while (begin < widths.size());
  return text;
}

std::string TextTable::format(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths();
  const std::size_t all = std::reduce(widths.begin(), widths.end()) + gap * (widths.size() - 1);
  if (wide_tables || optional_.empty() || all <= width) {
    return blocks(width);
  }
  Cells left_out;
  TextTable narrow = *this;
  while (!narrow.optional_.empty()) {
    const std::size_t column = narrow.optional_.front();
    left_out.push_back(narrow.rows_.front()[column]);
    narrow.drop(column);
  }
  return narrow.blocks(width) + fmt::format("(more with --wide: {})\n", fmt::join(left_out, ", "));
}

} // namespace diffbench::bench
