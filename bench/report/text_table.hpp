// A plain table: columns as wide as their widest cell.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What stands in a cell that has no value.
inline constexpr const char* no_value = "-";

struct TerminalSize {
  int columns = 80;
  int lines = 24;
};

/// Of the terminal that stdout is; empty when it is none, or TERM is dumb.
[[nodiscard]] std::optional<TerminalSize> terminal_size();

/// How wide the tables of this program may be: as wide as they like, until main says otherwise.
inline std::size_t table_width = std::numeric_limits<std::size_t>::max();

class TextTable {
 public:
  using Cells = std::vector<std::string>;

  explicit TextTable(Cells header) { rows_.push_back(std::move(header)); }
  /// Another header for a column, from 0.
  void rename(std::size_t column, std::string header) { rows_.front()[column] = std::move(header); }
  /// Its cells are words more than figures: every column is flush left, and there is no rule.
  void of_words() { words_ = true; }
  /// As many cells as the header has.
  void add(Cells cells) { rows_.push_back(std::move(cells)); }
  /// Leaves out the columns, but for the first, in which no row has a value.
  void drop_empty();
  /// Header, rule, rows; the first column is flush left, the others flush right, two spaces apart
  /// (of words: see there).
  /// No line is longer than `width`: what does not fit follows in a block of its own below, which
  /// begins with the first column again.
  [[nodiscard]] std::string format(std::size_t width = table_width) const;

 private:
  [[nodiscard]] std::string block(const std::vector<std::size_t>& widths, std::size_t begin,
                                  std::size_t end) const;

  std::vector<Cells> rows_;
  bool words_ = false;
};

} // namespace diffbench::bench
