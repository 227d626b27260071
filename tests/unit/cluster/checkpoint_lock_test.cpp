// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/checkpoint_lock.hpp"

#include "scratch.hpp"

#include <optional>

#include <gmock/gmock.h>

#include <unistd.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CheckpointLockTest : public ScratchTest {
 public:
  std::filesystem::path path = directory() / "run.state";
};

TEST_F(CheckpointLockTest, TheSecondIsToldWhoTheFirstIs) {
  std::optional<CheckpointLock> first(path);
  EXPECT_THAT(
      message_of<Error>([&] { CheckpointLock second(path); }),
      AllOf(HasSubstr("run.state'"), HasSubstr("process " + std::to_string(::getpid()) + " on "),
            HasSubstr("is writing it")));
  const CheckpointLock another(directory() / "other.state");
  first.reset();
  EXPECT_NO_THROW(CheckpointLock second(path));
  EXPECT_EQ(file_count(), 1); // of the other
}

TEST_F(CheckpointLockTest, WhatAKilledRunHasLeftLocksNothing) {
  put(".run.state.lock", "process 1 on elsewhere");
  EXPECT_NO_THROW(CheckpointLock lock(path));
}

} // namespace
} // namespace diffbench::cluster
