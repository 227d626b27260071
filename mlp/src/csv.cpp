// SPDX-License-Identifier: Apache-2.0
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/mlp/csv_records.hpp"
#include "diffbench/mlp/data.hpp"
#include "diffbench/text.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

namespace diffbench::mlp {

namespace {

constexpr std::int64_t most_classes = 10000;
constexpr std::int64_t test_share = 5; ///< one row of so many is for the test

std::string_view trimmed(std::string_view cell) {
  cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
  return cell.substr(0, cell.find_last_not_of(' ') + 1);
}

/// Infinite where it is too large, 0 where it is too small.
std::optional<float> number(std::string_view cell, char separator) {
  std::string text(trimmed(cell));
  if (separator == ';' && text.find('.') == std::string::npos) { // a decimal comma
    std::ranges::replace(text, ',', '.');
  }
  const char* const begin = &text[text.starts_with('+') && !text.starts_with("+-") ? 1 : 0];
  float value = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    return std::abs(std::strtod(begin, nullptr)) < 1 ? 0 : std::numeric_limits<float>::infinity();
  }
  return value;
}

bool names_a_label(const std::string& cell) {
  return std::ranges::any_of(std::array{"label", "class", "target"}, [&](const char* name) {
    return ::strcasecmp(cell.c_str(), name) == 0;
  });
}

class TableReader {
 public:
  explicit TableReader(std::string_view label) : label_(label) {}

  void take(CsvRecord& record) {
    std::vector<std::string>& cells = record.fields;
    line_ = record.line;
    separator_ = record.separator;
    while (cells.size() > columns_ && cells.back().empty()) {
      cells.pop_back();
    }
    if (std::ranges::all_of(cells, &std::string::empty)) { // as spreadsheets write empty rows
      return;
    }
    if (columns_ == 0 && begin(cells)) {
      return;
    }
    if (cells.size() != columns_) {
      fail(std::to_string(cells.size()) + " values, and " + std::to_string(columns_) +
           " in the lines before");
    }
    if (std::ranges::count(cells, "") > 0) {
      fail("a value is missing");
    }
    for (std::size_t column = first_; column < columns_; ++column) {
      const std::optional<float> value = number(cells[column], separator_);
      if (column == label_column_) {
        take_label(cells[column], value);
      } else if (value && std::isfinite(*value)) {
        set_.values.push_back(*value);
      } else {
        fail("'" + printable(cells[column]) + "' is " +
             (value && std::isinf(*value) ? "too large" : "not a number"));
      }
    }
  }

  /// With the classes in their order.
  DataSet data() {
    std::vector<std::int32_t> number_of(classes_.size());
    const bool as_they_are = !classes_.empty() && classes_.begin()->first.first >= 0.0F;
    for (const auto& [key, index] : classes_) {
      const int whole = key.first ? static_cast<int>(*key.first) : 0;
      number_of[index] = as_they_are ? whole : static_cast<int>(set_.class_names.size());
      set_.classes = number_of[index] + 1;
      if (!as_they_are) {
        set_.class_names.push_back(key.first ? std::to_string(whole) : key.second);
      }
    }
    for (std::int32_t& label : set_.labels) {
      label = number_of[static_cast<std::size_t>(label)];
    }
    return std::move(set_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput("line " + std::to_string(line_) + ": " + what);
  }

  /// Looks at the first line, and says whether it is a header.
  bool begin(const std::vector<std::string>& cells) {
    const bool header =
        std::ranges::any_of(cells,
                            [&](const std::string& cell) {
                              return names_a_label(cell) || (cell == label_ && !cell.empty());
                            }) ||
        std::ranges::none_of(
            cells, [&](const auto& cell) { return number(cell, separator_).has_value(); });
    columns_ = cells.size();
    first_ = header && cells.front().empty() ? 1 : 0;
    if (columns_ < first_ + 2) {
      fail("one value; a row is features and a label, with a comma, ; or tab between");
    }
    set_.features = static_cast<std::int64_t>(columns_ - first_) - 1;
    label_column_ = label_ == "first" ? first_ : columns_ - 1;
    if (label_ != "first" && label_ != "last") {
      const auto named = label_.empty() ? std::ranges::find_if(cells, names_a_label)
                                        : std::ranges::find(cells, label_);
      if (!label_.empty() && named == cells.end()) {
        fail("no column is named '" + printable(label_) + "'" + did_you_mean(label_, cells));
      }
      if (!label_.empty()) {
        label_column_ = static_cast<std::size_t>(named - cells.begin());
      } else if (named != cells.end() && !names_a_label(cells.back())) {
        fail("a column is '" + printable(*named) +
             "', and the last one would be the label: choose " + "--label " + printable(*named) +
             " or --label last");
      }
    }
    return header;
  }

  void take_label(const std::string& cell, std::optional<float> value) {
    if (value && (*value != std::floor(*value) || !(std::abs(*value) < most_classes))) {
      fail("label " + printable(cell) + ": a name or a whole number to 9999 is wanted; --label " +
           "chooses the column");
    }
    if (!classes_.empty() && classes_.begin()->first.first.has_value() != value.has_value()) {
      fail("label " + printable(cell) + ": those before are " + (value ? "names" : "numbers"));
    }
    const std::pair label(value, std::string(value ? "" : trimmed(cell)));
    const std::size_t index = classes_.try_emplace(label, classes_.size()).first->second;
    set_.labels.push_back(static_cast<std::int32_t>(index));
  }

  std::string label_;
  std::int64_t line_ = 0;
  char separator_ = ',';
  std::size_t columns_ = 0; ///< 0: no line was there
  std::size_t first_ = 0;   ///< column; one without a name before it counts the rows
  std::size_t label_column_ = 0;
  std::map<std::pair<std::optional<float>, std::string>, std::size_t> classes_; ///< as they came
  DataSet set_;
};

std::string text_of(const std::filesystem::path& file) {
  std::error_code error; // opening a pipe might wait for ever
  std::ifstream stream(std::filesystem::is_regular_file(file, error) ? file : "", std::ios::binary);
  if (!stream) {
    throw InvalidInput("cannot be opened, or is not a regular file");
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// For the test of each class one row in five, drawn by chance, and one at least where it has two.
/// So whether rows are sorted or come in a rhythm does not count.
Split split_rows(DataSet all) {
  std::vector<std::size_t> order(all.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, std::mt19937(1)); // the same rows in each run, whatever its seed
  std::vector<std::int64_t> left(static_cast<std::size_t>(all.classes)); // for the test
  for (const std::int32_t label : all.labels) {
    ++left[static_cast<std::size_t>(label)];
  }
  for (std::int64_t& rows : left) {
    rows = std::max<std::int64_t>((rows + test_share / 2) / test_share, rows > 1 ? 1 : 0);
  }
  const std::vector<float> values = std::move(all.values);
  const std::vector<std::int32_t> labels = std::move(all.labels);
  Split split{all, all};
  for (const std::size_t row : order) {
    DataSet& set = left[static_cast<std::size_t>(labels[row])]-- > 0 ? split.test : split.train;
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row) * all.features;
    set.values.insert(set.values.end(), begin, begin + all.features);
    set.labels.push_back(labels[row]);
  }
  return split;
}

/// By mean and deviation of the training rows; a column that does not vary becomes 0.
void standardize(Split& split) {
  const auto rows = static_cast<double>(split.train.rows());
  for (std::int64_t column = 0; column < split.train.features; ++column) {
    auto each = [&](DataSet& set, auto visit) {
      for (std::int64_t row = 0; row < set.rows(); ++row) {
        visit(set.values[static_cast<std::size_t>(row * set.features + column)]);
      }
    };
    const float first = split.train.values[static_cast<std::size_t>(column)];
    bool varies = false; // by comparison: the mean of equal values may be off by a rounding error
    double mean = 0;
    each(split.train, [&](float value) {
      varies |= value != first;
      mean += static_cast<double>(value) / rows;
    });
    double squares = 0;
    each(split.train, [&](float value) {
      squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    });
    const double deviation = std::sqrt(squares / rows);
    for (DataSet* set : {&split.train, &split.test}) {
      each(*set, [&](float& value) {
        value = varies ? static_cast<float>((static_cast<double>(value) - mean) / deviation) : 0.0F;
      });
    }
  }
}

} // namespace

Split read_csv(const std::filesystem::path& file, std::string_view label) try {
  TableReader table(label);
  each_csv_record(text_of(file), true, [&](CsvRecord& record) { table.take(record); });
  DataSet all = table.data();
  all.name = file.stem().string();
  const auto classes = std::set(all.labels.begin(), all.labels.end()).size();
  if (all.rows() < test_share || classes < 2 || classes > most_classes ||
      classes == all.labels.size()) {
    throw InvalidInput(std::to_string(all.rows()) + " rows of " + std::to_string(classes) +
                       " classes; at least 5 rows of 2 to 10000 classes are needed, and several " +
                       "rows of one; --label chooses the column of the class");
  }
  Split split = split_rows(std::move(all));
  standardize(split);
  if (!std::ranges::all_of(split.test.values, [](float value) { return std::isfinite(value); })) {
    throw InvalidInput(
        "a column varies so little in the training rows that a value of the test "
        "rows overflows when it is standardized");
  }
  return split;
} catch (const InvalidInput& error) {
  throw InvalidInput(file.string() + ": " + error.what());
} catch (const std::ios_base::failure&) {
  throw Error(file.string() + ": reading failed");
}

} // namespace diffbench::mlp
