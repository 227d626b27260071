// SPDX-License-Identifier: Apache-2.0
// Whether the columns (or rows) that are wrong come again with a period, as those of tiles or warps
// do. An observation, where no mistake that is known explains the cells.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::bench {

/// Column x is wrong where x modulo `period` is one of `at`, which are in order.
struct WrongPeriod {
  std::int64_t period = 0;
  std::vector<std::int64_t> at = {};
  bool operator==(const WrongPeriod&) const = default;
};

/// `runs`: of each run the number of wrong cells in each column. A column counts as wrong that has
/// more than half as many as the worst one. The smallest period of at least 2 that holds in all
/// runs in which it is seen twice, the first and the last column left out: those of an edge may be
/// wrong by themselves. Empty where there is none.
[[nodiscard]] std::optional<WrongPeriod> wrong_period(
    std::span<const std::vector<std::int64_t>> runs);

} // namespace diffbench::bench
