// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/exchange_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace diffbench::cluster {
namespace {

/// Both messages of an exchange, one after the other.
ExchangeCost of_network(double latency, double bytes_per_second) {
  return {.seconds = 2 * latency, .seconds_per_byte = 2 / bytes_per_second};
}

TEST(ExchangeModel, AddsUp) {
  const RankWork work{.rows = 100, .nx = 1000, .cell_bytes = 4, .seconds_per_cell = 1e-9};
  const ExchangeCost exchange{.seconds = 40e-6, .seconds_per_byte = 1e-10};
  // 108 rows of 1000 cells at 1 ns, and a quarter of 40 us + 16,000 bytes at 0.1 ns.
  EXPECT_DOUBLE_EQ(step_seconds(work, exchange, 4), 108e-6 + (40e-6 + 1.6e-6) / 4);
  EXPECT_DOUBLE_EQ(efficiency(work, exchange, 4), 100 / (108 + 10.4));
}

TEST(ExchangeModel, FindsTheDepthThatCalculusFinds) {
  const RankWork work{.rows = 4096, .nx = 16384, .cell_bytes = 4, .seconds_per_cell = 1 / 2500e9};
  for (const double latency : {1e-7, 1e-6, 1e-5, 1e-4}) {
    const ExchangeCost exchange = of_network(latency, 150e9);
    // d/dK of 2 K nx c + a / K is zero.
    const double root = std::sqrt(exchange.seconds / (2 * work.nx * work.seconds_per_cell));
    const auto best = static_cast<double>(best_depth(work, exchange));
    EXPECT_LE(best, std::max(1.0, std::min(64.0, 1.5 * root))) << latency;
    EXPECT_GE(best, std::min(64.0, root / 1.5)) << latency;
  }
}

TEST(ExchangeModel, KeepsHalosWithinARank) {
  const RankWork work{.rows = 5, .nx = 10, .cell_bytes = 4, .seconds_per_cell = 1e-12};
  EXPECT_EQ(best_depth(work, of_network(1, 1e9)), 4);
}

TEST(ExchangeModel, SaysThatSlowKernelsScale) {
  const ExchangeCost exchange = of_network(6e-6, 150e9);
  RankWork work{.rows = 4096, .nx = 16384, .cell_bytes = 4, .seconds_per_cell = 1 / 500e9};
  const double slow = efficiency(work, exchange, 1);
  work.seconds_per_cell = 1 / 2500e9;
  EXPECT_LT(efficiency(work, exchange, 1), slow);
  EXPECT_GT(efficiency(work, exchange, best_depth(work, exchange)), 0.93);
}

// Published: 8 A100, 8192 by 4096 cells each, one exchange a step over NVLink: 92 % (copies), 98 %
// (overlapped) of one GPU (Ismayilov et al., "Multi-GPU communication schemes for iterative
// solvers", ICS'23, artifact). A sweep at the memory's 1.24 TB/s is 155 GCell/s.
TEST(ExchangeModel, AgreesWithPublishedFigures) {
  const RankWork a100{.rows = 4096, .nx = 8192, .cell_bytes = 4, .seconds_per_cell = 1 / 155e9};
  const double modelled = efficiency(a100, of_network(6e-6, 150e9), 1);
  EXPECT_NEAR(modelled, 0.945, 0.005);
  EXPECT_GT(modelled, 0.92);
  EXPECT_LT(modelled, 0.98);
}

} // namespace
} // namespace diffbench::cluster
