// SPDX-License-Identifier: Apache-2.0
// The search of throughput.hpp.
#include "throughput.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace diffbench::bench {

namespace {

constexpr int refinements = 2;

std::int64_t middle(std::int64_t a, std::int64_t b) {
  return std::llround(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
}

/// Batch sizes between the best and its neighbours that were not tried.
std::vector<std::int64_t> around_best(const BatchSearch& search) {
  std::vector<std::int64_t> batches;
  const BatchPoint* const best = search.best();
  const BatchPoint* const first = search.curve.data();
  const BatchPoint* const last = first + search.curve.size() - 1;
  for (const std::ptrdiff_t side : {-1, 1}) {
    if ((side < 0 && best == first) || (side > 0 && best == last)) {
      continue;
    }
    const std::int64_t between = middle(best->batch, best[side].batch);
    if (between != best->batch && between != best[side].batch) {
      batches.push_back(between);
    }
  }
  return batches;
}

void insert(BatchSearch& search, BatchPoint point) {
  const auto place = std::ranges::lower_bound(search.curve, point.batch, {}, &BatchPoint::batch);
  search.curve.insert(place, point);
}

/// Of many rates that scatter the highest is flattered: a batch is the best once it was that in two
/// measurements, which may lie seconds apart.
void confirm_best(BatchSearch& search, const std::function<BatchTrial(std::int64_t)>& measure,
                  const std::function<bool(SearchPhase)>& go_on) {
  std::set<std::int64_t> confirmed;
  while (!search.curve.empty()) {
    BatchPoint& best = *std::ranges::max_element(search.curve, {}, &BatchPoint::rows_per_second);
    if (!confirmed.insert(best.batch).second || !go_on(SearchPhase::refining)) {
      return;
    }
    best.rows_per_second = measure(best.batch).rows_per_second.value_or(best.rows_per_second);
  }
}

} // namespace

const BatchPoint* BatchSearch::best() const {
  const auto found = std::ranges::max_element(curve, {}, &BatchPoint::rows_per_second);
  return found != curve.end() ? &*found : nullptr;
}

BatchSearch search_batches(std::int64_t first, std::int64_t most,
                           const std::function<BatchTrial(std::int64_t)>& measure,
                           const std::function<bool(SearchPhase)>& go_on) {
  BatchSearch search{.curve = {}, .ended_by = "the largest batch that was asked for"};
  for (std::int64_t batch = first;; batch = std::min(2 * batch, most)) {
    if (!go_on(SearchPhase::doubling)) {
      search.ended_by = "the time budget";
      break;
    }
    const BatchTrial trial = measure(batch);
    if (!trial.rows_per_second) {
      search.ended_by = trial.why_not;
      break;
    }
    insert(search, {batch, *trial.rows_per_second});
    if (batch == most) {
      break;
    }
  }
  for (int round = 0; round < refinements && !search.curve.empty(); ++round) {
    for (const std::int64_t batch : around_best(search)) {
      if (!go_on(SearchPhase::refining)) {
        return search;
      }
      if (const BatchTrial trial = measure(batch); trial.rows_per_second) {
        insert(search, {batch, *trial.rows_per_second});
      }
    }
  }
  confirm_best(search, measure, go_on);
  return search;
}

} // namespace diffbench::bench
