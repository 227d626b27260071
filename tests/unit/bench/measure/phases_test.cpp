// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace diffbench::bench {
namespace {

double sum_of_phases(const Phases& phases) {
  double sum = phases.unexplained;
  for (const NamedPhase& phase : named_phases) {
    sum += (phases.*phase.member).value_or(0);
  }
  return sum;
}

Row cold_row(const std::string& name, DeviceKind device, double context) {
  Row row;
  row.name = name;
  row.device = device;
  Phases cold;
  cold.context = context;
  cold.compute = 1;
  cold.wall = context + 3;
  settle(cold);
  row.cold = cold;
  return row;
}

TEST(Phases, WithoutAnAccountTheyStay) {
  Phases phases;
  phases.h2d = 1;
  phases.wall = 3;
  settle(phases);
  itemize(phases, std::nullopt);
  EXPECT_EQ(phases.h2d, 1);
  EXPECT_FALSE(phases.launch);
  EXPECT_FALSE(phases.busy);
  EXPECT_DOUBLE_EQ(phases.unexplained, 2);
}

TEST(Phases, AnAccountReplacesThem) {
  Phases phases;
  phases.alloc = 5; // what making the session took by the host's clock
  phases.wall = 20;
  PhaseTimes account;
  account.context = 3;
  account.alloc = 1;
  account.h2d = 4;
  account.compute_busy = 7;
  itemize(phases, account);
  EXPECT_EQ(phases.context, 3);
  EXPECT_EQ(phases.alloc, 1);
  EXPECT_FALSE(phases.pin); // took no time: not part of the run
  EXPECT_EQ(phases.d2h, 0);
  EXPECT_DOUBLE_EQ(phases.unexplained, 12);
  EXPECT_DOUBLE_EQ(sum_of_phases(phases), 20);
  EXPECT_EQ(phases.busy->compute, 7);
}

TEST(Phases, AHostsAccountHasNoEnginesAndLeavesTheMakingAlone) {
  Phases phases;
  phases.alloc = 5;
  phases.wall = 20;
  PhaseTimes account;
  account.h2d = 4;
  account.compute = 10;
  itemize(phases, account);
  EXPECT_EQ(phases.alloc, 5);
  EXPECT_FALSE(phases.launch);
  EXPECT_FALSE(phases.busy);
  EXPECT_DOUBLE_EQ(phases.unexplained, 1);
}

TEST(Phases, MoreThanTheWallIsShown) {
  Phases phases;
  phases.wall = 1;
  PhaseTimes account;
  account.h2d = 3;
  itemize(phases, account);
  EXPECT_DOUBLE_EQ(phases.unexplained, -2);
}

TEST(Phases, FreeIsAddedToTheWall) {
  Phases phases;
  phases.compute = 2;
  phases.wall = 5;
  append_free(phases, 4);
  EXPECT_EQ(phases.free, 4);
  EXPECT_DOUBLE_EQ(phases.wall, 9);
  EXPECT_DOUBLE_EQ(phases.unexplained, 3);
}

TEST(Phases, EveryColdRunOnADeviceIsChargedWithDriverAndContext) {
  std::vector<Row> rows{
      cold_row("cpu", DeviceKind::cpu, 0), cold_row("first", DeviceKind::cuda, 10),
      cold_row("second", DeviceKind::cuda, 0.5), cold_row("peer:gpu", DeviceKind::cuda, 0)};
  rows[1].setup_seconds = 11;
  rows[2].setup_seconds = 1.5;
  rows[3].is_peer = true;
  EXPECT_TRUE(charge_context(rows, 4));
  EXPECT_DOUBLE_EQ(rows[0].cold->wall, 3);
  for (const std::size_t on_device : {1U, 2U}) {
    EXPECT_DOUBLE_EQ(*rows[on_device].cold->context, 14);
    EXPECT_DOUBLE_EQ(rows[on_device].cold->wall, 17);
    EXPECT_DOUBLE_EQ(rows[on_device].cold->unexplained, 2);
    EXPECT_DOUBLE_EQ(rows[on_device].setup_seconds.value(), 15);
  }
  EXPECT_DOUBLE_EQ(rows[3].cold->wall, 3); // in a process of its own
}

TEST(Phases, WithoutADeviceThereIsNothingToCharge) {
  std::vector<Row> rows{cold_row("cpu", DeviceKind::cpu, 0), Row{}};
  rows[1].device = DeviceKind::cuda; // failed before it had a cold run
  EXPECT_FALSE(charge_context(rows, 4));
  EXPECT_DOUBLE_EQ(rows[0].cold->wall, 3);
  EXPECT_FALSE(rows[1].cold);
}

} // namespace
} // namespace diffbench::bench
