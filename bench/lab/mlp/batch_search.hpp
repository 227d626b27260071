// The search for the batch size with the most rows a second: arithmetic only, so that it can be
// tested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

inline constexpr double as_good_as_best = 0.95;

/// Upwards, or round the best.
enum class SearchPhase { doubling, refining };

/// What trying a batch size gave.
struct BatchTrial {
  std::optional<double> rows_per_second;
  std::string why_not; ///< without a rate: what ends the search upwards
};

struct BatchPoint {
  std::int64_t batch = 0;
  double rows_per_second = 0;
};

struct BatchSearch {
  std::vector<BatchPoint> curve; ///< by batch size
  std::string ended_by;

  /// The fastest; nullptr where nothing was measured.
  [[nodiscard]] const BatchPoint* best() const;
  /// The smallest batch with at least 95 % of the best rate.
  [[nodiscard]] const BatchPoint* enough() const;
};

/// Doubles the batch from `first` up to `most` (itself the last, and not less than `first`), or to
/// a trial without a rate; then tries the middles (geometric) towards the neighbours of the best,
/// twice; then the best once more, until one stays the best: what `measure` says of all its
/// measurements counts. `go_on` is asked before each trial.
[[nodiscard]] BatchSearch search_batches(std::int64_t first, std::int64_t most,
                                         const std::function<BatchTrial(std::int64_t)>& measure,
                                         const std::function<bool(SearchPhase)>& go_on);

} // namespace diffbench::bench
