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

/// One thread has 6.6 MB of weights and takes them in parts, two have half of that each and do not.
TEST(EngineThreads, SameBitsWherePartsOfALayerAreSummed) {
  const Training training{
      .network = Network({7, 1501, 1103, 3}), .optimizer = {.rate = 0.1}, .batch = 21};
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) {
      continue;
    }
    SessionOptions options{.threads = 1, .isa = isa};
    const Trained one = train<float>(require_engine("cpu"), training, 2, options);
    options.threads = 2;
    EXPECT_EQ(train<float>(require_engine("cpu"), training, 2, options).parameters, one.parameters)
        << to_string(isa);
  }
}

} // namespace
} // namespace diffbench::mlp
