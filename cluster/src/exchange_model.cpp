// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/exchange_model.hpp"

namespace diffbench::cluster {

double step_seconds(const RankWork& work, const ExchangeCost& exchange, std::int64_t depth) {
  const auto deep = static_cast<double>(depth);
  const double message = deep * work.nx * work.cell_bytes;
  return (work.rows + 2 * deep) * work.nx * work.seconds_per_cell +
         (exchange.seconds + exchange.seconds_per_byte * message) / deep;
}

std::int64_t best_depth(const RankWork& work, const ExchangeCost& exchange) {
  std::int64_t best = 1;
  for (const std::int64_t depth : depth_notches) {
    if (static_cast<double>(depth) <= work.rows &&
        step_seconds(work, exchange, depth) < step_seconds(work, exchange, best)) {
      best = depth;
    }
  }
  return best;
}

double efficiency(const RankWork& work, const ExchangeCost& exchange, std::int64_t depth) {
  return work.rows * work.nx * work.seconds_per_cell / step_seconds(work, exchange, depth);
}

} // namespace diffbench::cluster
