// SPDX-License-Identifier: Apache-2.0
#include "markdown.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace diffbench::bench {

namespace {

struct Table {
  std::string text;
  std::string markdown;
};

bool tables_are_kept = false;

std::vector<Table>& kept_tables() {
  static std::vector<Table> tables;
  return tables;
}

/// What would be markup is a character.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (std::string_view("*|<\\`").find(character) != std::string_view::npos) {
      result += '\\';
    }
    result += character;
  }
  return result;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += ' ' + cell + " |";
  }
  return line + '\n';
}

std::string table_of(const std::vector<std::vector<std::string>>& rows, bool of_words) {
  std::string text;
  for (std::vector<std::string> row : rows) {
    std::ranges::transform(row, row.begin(), escaped);
    const bool is_header = text.empty();
    text += line_of(row);
    if (is_header) {
      std::vector<std::string> alignment(row.size(), of_words ? ":--" : "--:");
      alignment.front() = ":--";
      text += line_of(alignment);
    }
  }
  return text;
}

/// The table that `rest` begins with: the longest, if several do.
const Table* table_at(std::string_view rest) {
  const Table* found = nullptr;
  for (const Table& table : kept_tables()) {
    if (rest.starts_with(table.text) &&
        (found == nullptr || table.text.size() > found->text.size())) {
      found = &table;
    }
  }
  return found;
}

} // namespace

void keep_tables() { tables_are_kept = true; }

void remember_table(const std::string& text, const std::vector<std::vector<std::string>>& rows,
                    bool of_words) {
  if (tables_are_kept) {
    kept_tables().push_back({text, table_of(rows, of_words)});
  }
}

std::string as_markdown(const std::string& report) {
  std::string result;
  bool in_block = false; // of lines that stay as they are
  std::string_view rest = report;
  while (!rest.empty()) {
    if (const Table* table = table_at(rest)) {
      result += (result.empty() ? "" : "\n") + table->markdown;
      rest.remove_prefix(table->text.size());
      in_block = false;
      continue;
    }
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) {
      in_block = false;
      continue;
    }
    const bool kept = line.starts_with(' ');
    if (!result.empty() && !(kept && in_block)) {
      result += '\n';
    }
    result += kept ? "    " + std::string(line) + '\n' : escaped(line) + '\n';
    in_block = kept;
  }
  return result;
}

} // namespace diffbench::bench
