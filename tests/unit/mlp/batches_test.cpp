// SPDX-License-Identifier: Apache-2.0
// Batches gathered ahead by a thread are those that are gathered in turn, to the last bit.
#include "batches.hpp"
#include "diffbench/mlp/training.hpp"
#include "prefetcher.hpp"
#include "training_case.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

namespace diffbench::mlp {
namespace {

DataSet numbered_rows(std::int64_t rows) {
  DataSet set{.name = "rows", .features = 2, .classes = 3, .values = {}, .labels = {}};
  for (std::int32_t row = 0; row < rows; ++row) {
    set.values.insert(set.values.end(), {static_cast<float>(row), static_cast<float>(-row)});
    set.labels.push_back(row % 3);
  }
  return set;
}

struct Taken {
  std::vector<std::size_t> sizes;
  std::vector<float> features;
  std::vector<std::int32_t> labels;
};

Taken take(BatchLoader& loader, int batches) {
  Taken taken;
  for (int i = 0; i < batches; ++i) {
    const Batch& batch = loader.next();
    taken.sizes.push_back(batch.labels.size());
    taken.features.insert(taken.features.end(), batch.features.begin(), batch.features.end());
    taken.labels.insert(taken.labels.end(), batch.labels.begin(), batch.labels.end());
  }
  return taken;
}

TEST(BatchLoader, AnEpochHasEachRowOnceInAnOrderOfItsOwn) {
  const DataSet set = numbered_rows(11);
  BatchLoader loader(set, 4, 1, false);
  std::vector<std::vector<float>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Taken taken = take(loader, 3);
    EXPECT_THAT(taken.sizes, testing::ElementsAre(4, 4, 3));
    std::vector<float> rows;
    for (std::size_t i = 0; i < taken.labels.size(); ++i) {
      rows.push_back(taken.features[2 * i]);
      EXPECT_EQ(taken.features[2 * i + 1], -rows.back());
      EXPECT_EQ(taken.labels[i], static_cast<std::int32_t>(rows.back()) % 3);
    }
    EXPECT_THAT(orders, testing::Not(testing::Contains(rows)));
    orders.push_back(rows);
    std::ranges::sort(rows);
    EXPECT_THAT(rows, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  }
}

TEST(BatchLoader, AheadTheBatchesAreTheSame) {
  const DataSet set = numbered_rows(101);
  for (const std::int64_t size : {1, 10, 101}) {
    BatchLoader in_turn(set, size, 7, false);
    BatchLoader ahead(set, size, 7, true);
    const Taken expected = take(in_turn, 300);
    const Taken taken = take(ahead, 300);
    EXPECT_EQ(taken.features, expected.features);
    EXPECT_EQ(taken.labels, expected.labels);
  }
}

TEST(BatchLoader, TrainingIsTheSameToTheLastBit) {
  const Split split = disc_set(200, 1);
  const Training training{.network = Network({2, 16, 2}), .optimizer = {}, .batch = 30};
  auto result = [&](const EngineInfo& info, bool prefetch) {
    std::vector<float> parameters = start_of<float>(training.network);
    const auto engine = info.make<float>()(training, {});
    train(*engine, training, split.train,
          {.epochs = 3, .feed = Feed::batches, .prefetch = prefetch}, parameters,
          [](const Epoch&) { return true; });
    return parameters;
  };
  for (const EngineInfo& info : all_engines()) {
    if (info.probe(0).available) {
      EXPECT_EQ(result(info, true), result(info, false)) << info.name;
    }
  }
}

TEST(Prefetcher, WhatMakingAnItemThrewReachesTheCaller) {
  int made = 0;
  Prefetcher<int> numbers([&](int& number) {
    if (made == 3) {
      throw std::runtime_error("no more");
    }
    number = made++;
  });
  for (int expected = 0; expected < 3; ++expected) {
    EXPECT_EQ(numbers.next(), expected);
  }
  EXPECT_THROW((void)numbers.next(), std::runtime_error);
  EXPECT_THROW((void)numbers.next(), std::runtime_error);
}

// Whatever the thread is at: making an item, or waiting for somebody to take it.
TEST(Prefetcher, CanBeGivenUpAtAnyTime) {
  for (int takes = 0; takes < 4; ++takes) {
    Prefetcher<int> numbers([i = 0](int& number) mutable { number = i++; });
    for (int expected = 0; expected < takes; ++expected) {
      EXPECT_EQ(numbers.next(), expected);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(takes % 2));
  }
}

// The item in use is not written to, however long it is used.
TEST(Prefetcher, LeavesTheItemInUseAlone) {
  Prefetcher<int> numbers([i = 0](int& number) mutable { number = i++; });
  for (int expected = 0; expected < 5; ++expected) {
    const int& number = numbers.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(number, expected);
  }
}

} // namespace
} // namespace diffbench::mlp
