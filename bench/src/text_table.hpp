// A plain table: columns as wide as their widest cell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What stands in a cell that has no value.
inline constexpr const char* no_value = "-";

class TextTable {
 public:
  using Cells = std::vector<std::string>;

  explicit TextTable(Cells header) { rows_.push_back(std::move(header)); }
  /// As many cells as the header has.
  void add(Cells cells) { rows_.push_back(std::move(cells)); }
  /// Header, rule, rows; the first column is flush left, the others flush right, two spaces apart.
  [[nodiscard]] std::string format() const;

 private:
  std::vector<Cells> rows_;
};

} // namespace diffbench::bench
