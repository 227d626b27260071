// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/checkpoint_rotation.hpp"

#include "barrier_ranks.hpp"
#include "scratch.hpp"

#include <fstream>
#include <iterator>

#include <span>

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class CheckpointRotationTest : public ScratchTest {
 public:
  void save(const std::string& version) {
    save_checkpoint(nullptr, path, facts_of(version), 0, {});
  }
  [[nodiscard]] static CheckpointFacts facts_of(const std::string& version) {
    CheckpointFacts facts;
    facts.problem = {.nx = 3, .ny = 7, .dtype = Dtype::float32};
    facts.version = version;
    return facts;
  }
  [[nodiscard]] std::string current() const { return version_in(path); }
  [[nodiscard]] std::string previous() const { return version_in(previous_checkpoint(path)); }
  [[nodiscard]] static std::string version_in(const std::filesystem::path& file) {
    const std::string text = content_of(file);
    const std::size_t begin = text.find("version \"") + 9;
    return text.substr(begin, text.find('"', begin) - begin);
  }

  std::filesystem::path path = directory() / "run.state";
};

TEST_F(CheckpointRotationTest, KeepsTheLastTwo) {
  save("first");
  EXPECT_EQ(current(), "first");
  EXPECT_EQ(file_count(), 1);
  save("second");
  save("third");
  EXPECT_EQ(current(), "third");
  EXPECT_EQ(previous(), "second");
  EXPECT_EQ(file_count(), 2);
}

TEST_F(CheckpointRotationTest, WhatAKilledRunHasLeftIsOverwritten) {
  save("first");
  put(".run.state.partial", "half");
  // Killed between the two names of the first one and the name of the second.
  std::filesystem::create_hard_link(path, previous_checkpoint(path));
  std::filesystem::create_hard_link(path, directory() / ".run.state.link");
  save("second");
  EXPECT_EQ(current(), "second");
  EXPECT_EQ(previous(), "first");
  EXPECT_EQ(file_count(), 2);
}

// link() fails where its second name is a folder, as it does on a file system without hard links.
TEST_F(CheckpointRotationTest, WorksWithoutHardLinks) {
  std::filesystem::create_directory(directory() / ".run.state.link");
  save("first");
  save("second");
  save("third");
  EXPECT_EQ(current(), "third");
  EXPECT_EQ(previous(), "second");
}

TEST_F(CheckpointRotationTest, ThePathIsNeverWithoutACompleteOne) {
  save("00000");
  std::atomic<bool> is_over = false;
  std::thread run([&] {
    for (int i = 1; i < 200; ++i) {
      save(std::to_string(10'000 + i));
    }
    is_over = true;
  });
  std::int64_t incomplete = 0;
  while (!is_over) {
    incomplete += current().size() == 5 ? 0 : 1;
  }
  run.join();
  EXPECT_EQ(incomplete, 0);
}

TEST_F(CheckpointRotationTest, RefusesWhatIsNoFile) {
  const auto complaint = [&] { return message_of<InvalidInput>([&] { save("x"); }); };
  path = directory() / "nowhere/run.state";
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("run.state'"), HasSubstr("nowhere' is not a directory")));
  path = directory() / "folder";
  std::filesystem::create_directories(path);
  EXPECT_THAT(complaint(), HasSubstr("folder' exists and is not a regular file"));
  path = full_device();
  EXPECT_THAT(complaint(), HasSubstr("exists and is not a regular file"));
  path = directory() / "run.state";
  std::filesystem::create_directories(previous_checkpoint(path));
  EXPECT_THAT(complaint(), HasSubstr("run.state.previous' exists and is not a regular file"));
  path = directory() / "";
  EXPECT_THROW(save("x"), InvalidInput);
}

TEST_F(CheckpointRotationTest, RanksSaveTogetherAndFailTogether) {
  CheckpointFacts facts = facts_of("first");
  const auto together = [&](Transport& transport) {
    save_checkpoint(&transport, path, facts, 0, {});
  };
  EXPECT_THAT(outcomes(3, together), Each(""));
  facts.version = "second";
  EXPECT_THAT(outcomes(3, together), Each(""));
  const std::filesystem::path blocked = directory() / ".run.state.partial";
  std::filesystem::create_directory(blocked);
  EXPECT_THAT(outcomes(3, together),
              Each(AllOf(StartsWith("error: cannot write checkpoint"), HasSubstr("(rank 0)"))));
  std::filesystem::remove(blocked);
  path = directory() / "nowhere/run.state";
  EXPECT_THAT(outcomes(3, together), Each(StartsWith("invalid: cannot write checkpoint")));
  path = directory() / "run.state";
  EXPECT_EQ(current(), "second");
  EXPECT_EQ(previous(), "first");
  EXPECT_EQ(file_count(), 2);
}

// Each at its place behind what was created, also where ranks have different numbers of rows.
TEST_F(CheckpointRotationTest, EachRankWritesItsRows) {
  const CheckpointFacts facts = facts_of("first");
  const std::string field =
      "abcdefghijkl" // a row
      "mnopqrstuvwx"
      "yz0123456789";
  EXPECT_THAT(outcomes(3,
                       [&](Transport& transport) {
                         const int rank = transport.rank(); // the middle one has no row
                         const std::string mine = rank == 0   ? field.substr(0, 24)
                                                  : rank == 1 ? ""
                                                              : field.substr(24);
                         save_checkpoint(&transport, path, facts, rank == 0 ? 0 : 2,
                                         std::as_bytes(std::span(mine)));
                       }),
              Each(""));
  EXPECT_THAT(content_of(path), HasSubstr("\n" + field + "\ndiffbench seal"));
}

TEST_F(CheckpointRotationTest, ThePreviousOneIsNotTakenSilently) {
  const auto complaint = [&] {
    return message_of<InvalidInput>([&] { require_checkpoint(nullptr, path); });
  };
  EXPECT_THAT(complaint(), AllOf(HasSubstr("there is no such file"), HasSubstr("check the path")));
  save("first");
  EXPECT_NO_THROW(require_checkpoint(nullptr, path));
  std::filesystem::rename(path, previous_checkpoint(path));
  EXPECT_THAT(complaint(), AllOf(HasSubstr("the one before it is there"),
                                 HasSubstr("name '" + previous_checkpoint(path).string() + "'")));
}

} // namespace
} // namespace diffbench::cluster
