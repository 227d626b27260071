// SPDX-License-Identifier: Apache-2.0
// The number of threads changes nothing, to the last bit: each number is computed by one of them,
// in the same order.
#include "training_case.hpp"

#include <gtest/gtest.h>

namespace diffbench::mlp {
namespace {

TEST(EngineThreads, SameBitsWithEveryNumberOfThreads) {
  const Training training{
      .network = Network({20, 70, 33, 10}), .optimizer = {.rate = 0.1}, .batch = 50};
  for (const EngineInfo& engine : all_engines()) {
    if (!engine.threaded || !engine.probe(0).available) {
      continue;
    }
    SessionOptions options;
    options.threads = 1;
    const Trained one = train<float>(engine, training, 8, options);
    for (const int threads : {2, 3, 5}) {
      options.threads = threads;
      const Trained many = train<float>(engine, training, 8, options);
      EXPECT_EQ(many.parameters, one.parameters) << engine.name << " " << threads;
      EXPECT_EQ(many.loss, one.loss) << engine.name << " " << threads;
    }
  }
}

} // namespace
} // namespace diffbench::mlp
