// SPDX-License-Identifier: Apache-2.0
#include "diffbench/errors.hpp"
#include "diffbench/mlp/data.hpp"
#include "diffbench/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <optional>
#include <random>
#include <string_view>

namespace diffbench::mlp {

namespace {

constexpr std::int64_t most_classes = 10000;
constexpr std::int64_t test_share = 5; ///< one row of so many is for the test

std::vector<std::string_view> cells_of(std::string_view line) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  std::vector<std::string_view> cells;
  for (bool more = true; more;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    more = comma != std::string_view::npos;
    line.remove_prefix(more ? comma + 1 : line.size());
  }
  return cells;
}

std::optional<float> number(std::string_view cell) {
  cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
  cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
  float value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

class CsvReader {
 public:
  explicit CsvReader(const std::filesystem::path& file) : path_(file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) { // opening a pipe might wait for ever
      throw InvalidInput(
          file.string() + ": cannot be opened" +
          (std::filesystem::exists(file, error) ? "; it is not a regular file" : ""));
    }
    stream_.open(file);
    if (!stream_) {
      throw InvalidInput(file.string() + ": cannot be opened");
    }
  }

  DataSet read() {
    for (std::string line; std::getline(stream_, line);) {
      ++line_;
      if (line.find_first_not_of(" \r") == std::string::npos) {
        continue;
      }
      const std::vector<std::string_view> cells = cells_of(line);
      const bool header = line_ == 1 && std::ranges::none_of(cells, [](std::string_view cell) {
                            return number(cell).has_value();
                          });
      if (!header) {
        take(cells);
      }
    }
    if (stream_.bad()) {
      ++line_;
      fail("reading failed; copy the file again");
    }
    return std::move(set_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(path_.string() + ", line " + std::to_string(line_) + ": " + what);
  }

  void take(const std::vector<std::string_view>& cells) {
    const auto features = static_cast<std::int64_t>(cells.size()) - 1;
    if (features < 1) {
      fail("one value; a row is features and a label, with commas between");
    }
    if (set_.features == 0) {
      set_.features = features;
    }
    if (features != set_.features) {
      fail(std::to_string(features + 1) + " values, and " + std::to_string(set_.features + 1) +
           " in the lines before");
    }
    for (const std::string_view cell : cells) {
      const std::optional<float> value = number(cell);
      if (!value) {
        fail(cell.empty() ? "a value is missing" : "'" + printable(cell) + "' is not a number");
      }
      set_.values.push_back(*value);
    }
    const float label = set_.values.back();
    set_.values.pop_back();
    if (label != std::floor(label) || label < 0 || label >= most_classes) {
      fail("label " + printable(cells.back()) + ": a whole number from 0 to " +
           std::to_string(most_classes - 1) + " stands last");
    }
    set_.labels.push_back(static_cast<std::int32_t>(label));
    set_.classes = std::max(set_.classes, static_cast<std::int64_t>(label) + 1);
  }

  std::filesystem::path path_;
  std::ifstream stream_;
  std::int64_t line_ = 0;
  DataSet set_;
};

/// Which rows are for the test: of the rows in order of their class, shuffled within it, every
/// fifth. So each class has its share, and whether rows are sorted or come in a rhythm does not
/// count. A class of one row is only learnt from.
std::vector<bool> drawn_for_test(const DataSet& all) {
  std::vector<std::vector<std::size_t>> of_class(static_cast<std::size_t>(all.classes));
  for (std::size_t row = 0; row < all.labels.size(); ++row) {
    of_class[static_cast<std::size_t>(all.labels[row])].push_back(row);
  }
  std::vector<bool> drawn(all.labels.size());
  std::mt19937 random(1); // the same rows in each run, whatever its seed
  std::int64_t at = 0;
  for (std::vector<std::size_t>& rows : of_class) {
    std::ranges::shuffle(rows, random);
    for (const std::size_t row : rows) {
      drawn[row] =
          rows.size() > 1 && at++ % test_share == test_share - 2; // of four rows there is one
    }
  }
  return drawn;
}

Split split_rows(const DataSet& all) {
  Split split;
  const std::vector<bool> drawn = drawn_for_test(all);
  for (DataSet* set : {&split.train, &split.test}) {
    set->features = all.features;
    set->classes = all.classes;
    set->name = all.name;
  }
  for (std::int64_t row = 0; row < all.rows(); ++row) {
    DataSet& set = drawn[static_cast<std::size_t>(row)] ? split.test : split.train;
    const auto begin = all.values.begin() + row * all.features;
    set.values.insert(set.values.end(), begin, begin + all.features);
    set.labels.push_back(all.labels[static_cast<std::size_t>(row)]);
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

Split read_csv(const std::filesystem::path& file) {
  DataSet all = CsvReader(file).read();
  all.name = file.stem().string();
  if (all.rows() < test_share || all.classes < 2) {
    throw InvalidInput(file.string() + ": " + std::to_string(all.rows()) + " rows of " +
                       std::to_string(all.classes) + " classes; at least " +
                       std::to_string(test_share) + " rows of two classes are needed");
  }
  Split split = split_rows(all);
  if (split.test.rows() == 0) {
    throw InvalidInput(file.string() + ": nearly every row has a class of its own; at least " +
                       std::to_string(test_share) + " rows of classes with several are needed");
  }
  standardize(split);
  if (!std::ranges::all_of(split.test.values, [](float value) { return std::isfinite(value); })) {
    throw InvalidInput(file.string() + ": a column varies so little in the training rows that a " +
                       "value of the test rows overflows when it is standardized");
  }
  return split;
}

} // namespace diffbench::mlp
