// SPDX-License-Identifier: Apache-2.0
#include "csv_records.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace diffbench::bench {

namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  std::vector<std::vector<std::string>> records() {
    std::vector<std::vector<std::string>> records;
    while (at_ < text_.size()) {
      std::vector<std::string> fields = record();
      if (fields.size() > 1 || !fields.front().empty()) {
        records.push_back(std::move(fields));
      }
    }
    return records;
  }

 private:
  std::vector<std::string> record() {
    std::vector<std::string> fields{field()};
    while (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      fields.push_back(field());
    }
    if (text_.substr(at_).starts_with('\r')) {
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] != '\n') {
      throw InvalidInput(fmt::format("line {}: text follows a field that has ended", line()));
    }
    ++at_;
    return fields;
  }

  std::string field() {
    if (text_.substr(at_).starts_with('"')) {
      return quoted_field();
    }
    const char ends[] = {separator_, '\r', '\n'};
    const std::size_t end =
        std::min(text_.find_first_of(std::string_view(ends, sizeof ends), at_), text_.size());
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    return field;
  }

  std::string quoted_field() {
    const std::size_t begin = at_++;
    std::string field;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) {
        at_ = begin;
        throw InvalidInput(fmt::format("line {}: a quote is never closed", line()));
      }
      field += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (!text_.substr(at_).starts_with('"')) {
        return field;
      }
      field += '"';
      ++at_;
    }
  }

  [[nodiscard]] std::ptrdiff_t line() const {
    return 1 + std::ranges::count(text_.substr(0, at_), '\n');
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
};

} // namespace

std::vector<std::vector<std::string>> csv_records(std::string_view text, char separator) {
  return CsvReader(text, separator).records();
}

} // namespace diffbench::bench
