// SPDX-License-Identifier: Apache-2.0
#include "wrong_period.hpp"

#include <algorithm>
#include <cstddef>

namespace diffbench::bench {

namespace {

std::vector<bool> wrong_columns(const std::vector<std::int64_t>& counts) {
  std::vector<bool> wrong;
  wrong.reserve(counts.size());
  const std::int64_t most = counts.empty() ? 0 : std::ranges::max(counts);
  for (const std::int64_t count : counts) {
    wrong.push_back(2 * count > most);
  }
  return wrong;
}

bool shows_twice(const std::vector<bool>& columns, std::size_t period) {
  return columns.size() >= 2 * period + 2;
}

/// Which columns of a period are wrong; empty where two that are a period apart differ.
std::vector<bool> columns_of_period(const std::vector<std::vector<bool>>& runs,
                                    std::size_t period) {
  std::vector<std::optional<bool>> known(period);
  for (const std::vector<bool>& columns : runs) {
    for (std::size_t x = 1; shows_twice(columns, period) && x + 1 < columns.size(); ++x) {
      if (known[x % period].value_or(columns[x]) != columns[x]) {
        return {};
      }
      known[x % period] = columns[x];
    }
  }
  std::vector<bool> wrong;
  wrong.reserve(period);
  for (const std::optional<bool> column : known) {
    wrong.push_back(column.value_or(false));
  }
  return wrong;
}

} // namespace

std::optional<WrongPeriod> wrong_period(std::span<const std::vector<std::int64_t>> runs) {
  std::vector<std::vector<bool>> wrong;
  std::size_t widest = 0;
  for (const std::vector<std::int64_t>& counts : runs) {
    wrong.push_back(wrong_columns(counts));
    widest = std::max(widest, counts.size());
  }
  for (std::size_t period = 2; 2 * period + 2 <= widest; ++period) {
    const std::vector<bool> columns = columns_of_period(wrong, period);
    const auto count = static_cast<std::size_t>(std::ranges::count(columns, true));
    if (count == 0 || count == period) {
      continue;
    }
    WrongPeriod found{.period = static_cast<std::int64_t>(period)};
    for (std::size_t x = 0; x < period; ++x) {
      if (columns[x]) {
        found.at.push_back(static_cast<std::int64_t>(x));
      }
    }
    return found;
  }
  return std::nullopt;
}

} // namespace diffbench::bench
