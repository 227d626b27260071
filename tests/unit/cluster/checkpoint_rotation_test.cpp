// SPDX-License-Identifier: Apache-2.0
// The files are texts here, written by a fake that fails where it is told to.
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

enum class Fault { none, before_the_file, with_half_of_it, without_a_file };

// Writes the digest.
class TextFiles : public CheckpointFiles {
 public:
  Fault fault = Fault::none;
  std::function<void(const std::filesystem::path&)> on_create = [](const auto&) {};

  std::int64_t create(const std::filesystem::path& file, const CheckpointFacts& facts) override {
    if (fault == Fault::before_the_file) {
      throw Error("no file");
    }
    on_create(file);
    if (fault != Fault::without_a_file) {
      std::ofstream(file) << facts.digest.substr(0, fault == Fault::with_half_of_it ? 2 : 99);
    }
    if (fault == Fault::with_half_of_it) {
      throw Error("disk full");
    }
    return std::ssize(facts.digest);
  }
  CheckpointContent read(int) override { return {}; }
};

class CheckpointRotationTest : public ScratchTest {
 public:
  void save(const std::string& digest) {
    CheckpointFacts facts;
    facts.digest = digest;
    save_checkpoint(files, nullptr, path, facts, 0, {});
  }
  [[nodiscard]] std::string current() const { return unsealed(path); }
  [[nodiscard]] std::string previous() const { return unsealed(previous_checkpoint(path)); }
  [[nodiscard]] static std::string unsealed(const std::filesystem::path& file) {
    const std::string text = content_of(file);
    return text.substr(0, text.find('\n'));
  }

  TextFiles files;
  std::filesystem::path path = directory() / "run.h5";
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

TEST_F(CheckpointRotationTest, AFailedWriteLeavesTheOlderOnesAndNothingElse) {
  save("first");
  save("second");
  for (const Fault fault :
       {Fault::before_the_file, Fault::with_half_of_it, Fault::without_a_file}) {
    files.fault = fault;
    EXPECT_THROW(save("third"), Error);
    EXPECT_EQ(current(), "second");
    EXPECT_EQ(previous(), "first");
    EXPECT_EQ(file_count(), 2);
  }
}

TEST_F(CheckpointRotationTest, TheNewOneIsOutOfSightUntilItIsComplete) {
  save("first");
  files.on_create = [&](const std::filesystem::path& file) {
    EXPECT_EQ(file.parent_path(), directory());
    EXPECT_THAT(file.filename().string(), StartsWith("."));
    EXPECT_EQ(current(), "first");
  };
  save("second");
}

TEST_F(CheckpointRotationTest, WhatAKilledRunHasLeftIsOverwritten) {
  save("first");
  files.on_create = [&](const std::filesystem::path& file) {
    EXPECT_FALSE(std::filesystem::exists(file));
  };
  put(".run.h5.partial", "half");
  // Killed between the two names of the first one and the name of the second.
  std::filesystem::create_hard_link(path, previous_checkpoint(path));
  std::filesystem::create_hard_link(path, directory() / ".run.h5.link");
  save("second");
  EXPECT_EQ(current(), "second");
  EXPECT_EQ(previous(), "first");
  EXPECT_EQ(file_count(), 2);
}

// link() fails where its second name is a folder, as it does on a file system without hard links.
TEST_F(CheckpointRotationTest, WorksWithoutHardLinks) {
  std::filesystem::create_directory(directory() / ".run.h5.link");
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
  path = directory() / "nowhere/run.h5";
  EXPECT_THAT(complaint(), AllOf(HasSubstr("run.h5'"), HasSubstr("nowhere' is not a directory")));
  path = directory() / "folder";
  std::filesystem::create_directories(path);
  EXPECT_THAT(complaint(), HasSubstr("folder' exists and is not a regular file"));
  path = full_device();
  EXPECT_THAT(complaint(), HasSubstr("exists and is not a regular file"));
  path = directory() / "run.h5";
  std::filesystem::create_directories(previous_checkpoint(path));
  EXPECT_THAT(complaint(), HasSubstr("run.h5.previous' exists and is not a regular file"));
  path = directory() / "";
  EXPECT_THROW(save("x"), InvalidInput);
}

TEST_F(CheckpointRotationTest, RanksSaveTogetherAndFailTogether) {
  CheckpointFacts facts;
  const auto together = [&](Transport& transport) {
    save_checkpoint(files, &transport, path, facts, 0, {});
  };
  facts.digest = "first";
  EXPECT_THAT(outcomes(3, together), Each(""));
  facts.digest = "second";
  EXPECT_THAT(outcomes(3, together), Each(""));
  files.fault = Fault::without_a_file; // that shows when the file is sealed
  EXPECT_THAT(outcomes(3, together),
              Each(AllOf(StartsWith("error: cannot write checkpoint"), HasSubstr("(rank 0)"))));
  path = directory() / "nowhere/run.h5";
  EXPECT_THAT(outcomes(3, together), Each(StartsWith("invalid: cannot write checkpoint")));
  path = directory() / "run.h5";
  EXPECT_EQ(current(), "second");
  EXPECT_EQ(previous(), "first");
  EXPECT_EQ(file_count(), 2);
}

// Each at its place behind what was created, also where ranks have different numbers of rows.
TEST_F(CheckpointRotationTest, EachRankWritesItsRows) {
  CheckpointFacts facts;
  facts.problem = {.nx = 3, .ny = 7, .dtype = Dtype::float32};
  facts.digest = "head ";
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
                         save_checkpoint(files, &transport, path, facts, rank == 0 ? 0 : 2,
                                         std::as_bytes(std::span(mine)));
                       }),
              Each(""));
  EXPECT_EQ(current(), "head " + field);
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
