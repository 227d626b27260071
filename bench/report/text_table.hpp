// SPDX-License-Identifier: Apache-2.0
// A plain table: columns as wide as their widest cell.
#pragma once

#include "text_width.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What stands in a cell that has no value.
inline constexpr const char* no_value = "-";

class TextTable {
 public:
  using Cells = std::vector<std::string>;

  explicit TextTable(Cells header) { rows_.push_back(std::move(header)); }
  /// Another header for a column, from 0.
  void rename(std::size_t column, std::string header) { rows_.front()[column] = std::move(header); }
  /// Its cells are words more than figures: every column is flush left, and there is no rule.
  void of_words() { words_ = true; }
  /// A column, from 0, that a table which is too wide can do without.
  void optional(std::size_t column) { optional_.push_back(column); }
  /// As many cells as the header has.
  void add(Cells cells) { rows_.push_back(std::move(cells)); }
  /// Leaves out a column, from 0.
  void drop(std::size_t column);
  /// Leaves out the columns, but for the first, in which no row has a value.
  void drop_empty();
  /// Header, rule, rows; the first column is flush left, the others flush right, two spaces apart
  /// (of words: see there).
  /// No line is longer than `width`: without --wide the optional columns are left out then, and a
  /// line says so; what does not fit follows in a block of its own below, which begins with the
  /// first column again. (A line of words can be longer: see wrapped().)
  [[nodiscard]] std::string format(std::size_t width = text_width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string blocks(std::size_t width) const;
  [[nodiscard]] std::string block(const std::vector<std::size_t>& widths, std::size_t begin,
                                  std::size_t end) const;

  std::vector<Cells> rows_;
  std::vector<std::size_t> optional_; ///< ascending
  bool words_ = false;
};

} // namespace diffbench::bench
