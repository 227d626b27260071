// SPDX-License-Identifier: Apache-2.0
// A training step of the tuned engine allocates nothing: operator new is replaced by one that
// counts.
#include "training_case.hpp"

#include <gtest/gtest.h>

/// Calls of operator new so far (counting_new.cpp).
long allocations();

namespace diffbench::mlp {
namespace {

long allocations_of_steps(const char* name, int threads) {
  const Training training{
      .network = Network({20, 70, 33, 10}), .optimizer = {.rate = 0.1}, .batch = 50};
  SessionOptions options;
  options.threads = threads;
  const auto engine = require_engine(name).make<float>()(training, options);
  engine->set_parameters(start_of<float>(training.network));
  const Rows<float> rows = random_rows<float>(training.network, 50, 1);
  engine->step(rows.features, rows.labels);
  const long before = allocations();
  for (int step = 0; step < 10; ++step) {
    engine->step(rows.features, rows.labels);
  }
  return allocations() - before;
}

TEST(EngineAllocation, AStepAllocatesNothing) {
  EXPECT_EQ(allocations_of_steps("cpu", 1), 0);
  EXPECT_EQ(allocations_of_steps("cpu", 2), 0);
}

TEST(EngineAllocation, TheCounterCounts) { EXPECT_GT(allocations_of_steps("scalar", 1), 0); }

} // namespace
} // namespace diffbench::mlp
