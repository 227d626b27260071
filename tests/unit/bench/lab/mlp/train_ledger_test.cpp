// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"
#include "mlp/train.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two epochs of 10 s: 1 s each to gather, and what the engine says of the rest.
std::vector<mlp::Epoch> epochs(const std::optional<mlp::EngineTimes>& engine) {
  const mlp::Epoch epoch{.number = 1,
                         .loss = 1,
                         .times = {.data = 1, .step = 8, .wait = 0.5},
                         .wall = 10,
                         .engine = engine};
  return {epoch, epoch};
}

TEST(TrainLedger, PartsAddUpToTheWallTime) {
  const mlp::EngineTimes times{
      .host = {.data = 0.5, .forward = 3, .backward = 4, .update = 0.5, .sync = 0.25},
      .device = {}};
  const TrainLedger ledger = ledger_of("cpu", epochs(times));
  EXPECT_EQ(ledger.wall, 20);
  EXPECT_EQ(ledger.parts.data, 3); // that of the loader and that of the engine
  EXPECT_EQ(ledger.parts.backward, 8);
  EXPECT_EQ(ledger.unexplained, 20 - 3 - 6 - 8 - 1 - 0.5);
  EXPECT_FALSE(ledger.device);
  const auto json = json_of(ledger_json(ledger));
  double sum = 0;
  for (const char* part :
       {"data", "h2d", "launch", "forward", "backward", "update", "sync", "unexplained"}) {
    sum += json[part].get<double>();
  }
  EXPECT_DOUBLE_EQ(sum, json["wall"].get<double>());
  EXPECT_TRUE(json["device"].is_null());
}

TEST(TrainLedger, WithoutAnAccountTheStepsAreUnexplained) {
  const TrainLedger ledger = ledger_of("mute", epochs(std::nullopt));
  EXPECT_EQ(ledger.unexplained, 18);
  EXPECT_THAT(ledger_table(std::vector{ledger}), HasSubstr("90.0 %"));
}

TEST(TrainLedger, WhatADeviceWasBusyWithStandsApart) {
  const mlp::EngineTimes times{.host = {.launch = 1, .sync = 7},
                               .device = {.forward = 3, .backward = 4}};
  const TrainLedger ledger = ledger_of("cuda", epochs(times));
  ASSERT_TRUE(ledger.device);
  EXPECT_EQ(ledger.device->forward, 6);
  EXPECT_EQ(ledger.unexplained, 20 - 2 - 2 - 14);
  EXPECT_THAT(ledger_table(std::vector{ledger}), Not(HasSubstr("within backward")));
}

TEST(TrainLedger, FusedUpdatesAreSaidToBe) {
  const mlp::EngineTimes times{.host = {.forward = 4, .backward = 4}, .device = {}};
  EXPECT_THAT(ledger_table(std::vector{ledger_of("cpu", epochs(times))}),
              HasSubstr("The update is within backward: cpu."));
}

} // namespace
} // namespace diffbench::bench
