// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/csv_records.hpp"

#include "diffbench/errors.hpp"

#include <csv.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>

namespace diffbench::mlp {

namespace {

/// The next line and its end, taken off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line =
      text.substr(0, end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  text.remove_prefix(line.size());
  return line;
}

bool is_left_out(std::string_view line, bool comments) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos ||
         (comments && line.starts_with('#'));
}

/// The one that both of the first two lines have equally often, else that which the first one has
/// most often. With semicolons there may be as many decimal commas.
char separator_of(std::string_view text, bool comments) {
  std::vector<std::string> lines; // without what is quoted
  while (!text.empty() && lines.size() < 2) {
    const std::string_view line = take_line(text);
    if (!is_left_out(line, comments)) {
      bool quoted = false;
      std::ranges::copy_if(line, std::back_inserter(lines.emplace_back()), [&](char c) {
        quoted ^= c == '"';
        return !quoted;
      });
    }
  }
  constexpr std::string_view separators = ";\t,";
  return *std::ranges::max_element(separators, {}, [&](char separator) {
    const auto first = lines.empty() ? 0 : std::ranges::count(lines.front(), separator);
    return first > 0 && first == std::ranges::count(lines.back(), separator)
               ? std::numeric_limits<std::ptrdiff_t>::max()
               : first;
  });
}

} // namespace

void each_csv_record(std::string text, bool comments, const std::function<void(CsvRecord&)>& take) {
  std::string_view rest = text += '\n'; // the last line may have no end
  if (rest.find('\0') != std::string_view::npos) {
    throw InvalidInput("is UTF-16 or no text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
  }
  rest.remove_prefix(rest.starts_with("\xEF\xBB\xBF") ? 3 : 0); // byte order mark
  CsvRecord record{.separator = separator_of(rest, comments)};
  csv_parser parser{};
  csv_init(&parser, CSV_STRICT);
  const std::unique_ptr<csv_parser, void (*)(csv_parser*)> freed(&parser, csv_free);
  csv_set_delim(&parser, static_cast<unsigned char>(record.separator));
  const auto add_field = [](void* field, std::size_t size, void* to) {
    static_cast<CsvRecord*>(to)->fields.emplace_back(static_cast<const char*>(field), size);
  };
  const auto end_record = [](int /*character*/, void* of) {
    static_cast<CsvRecord*>(of)->ended = true;
  };
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (record.ended && is_left_out(line, comments)) {
      continue;
    }
    if (record.ended) { // else a quoted field goes on
      record = {.line = number, .separator = record.separator, .ended = false};
    }
    if (csv_parse(&parser, line.data(), line.size(), add_field, end_record, &record) <
        line.size()) {
      throw InvalidInput("line " + std::to_string(record.line) + ": a quote stands within a field");
    }
    if (record.ended) {
      take(record);
    }
  }
  if (!record.ended) {
    throw InvalidInput("line " + std::to_string(record.line) + ": a quote is never closed");
  }
}

} // namespace diffbench::mlp
