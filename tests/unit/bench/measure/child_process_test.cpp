// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include <sys/wait.h>

namespace diffbench::bench {
namespace {

using namespace std::chrono_literals;

TEST(ChildProcess, OneThatIsStoppedAnswersOnceItGoesOn) {
  ChildProcess child({"sh", "-c", "while read x; do echo $x; done"});
  std::string line;
  child.stop();
  ASSERT_TRUE(child.write_line("one"));
  EXPECT_EQ(child.read_line(line, 200ms), ChildProcess::Outcome::timeout);
  child.go_on();
  EXPECT_EQ(child.read_line(line, 60s), ChildProcess::Outcome::line);
  EXPECT_EQ(line, "one");
  child.stop(); // a second time
  ASSERT_TRUE(child.write_line("two"));
  EXPECT_EQ(child.read_line(line, 200ms), ChildProcess::Outcome::timeout);
  child.kill_now();
}

TEST(ChildProcess, OneThatIsStoppedEndsByItselfWithItsOwner) {
  const TemporaryDirectory place;
  const std::filesystem::path file = place.path() / "ended";
  {
    ChildProcess child({"sh", "-c", "trap '' KILL; read x; echo > " + file.string()});
    child.stop();
  }
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ChildProcess, ALongLineComesWholeAndTheNextOneAfterIt) {
  ChildProcess child({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' a; echo; echo b"});
  std::string line;
  ASSERT_EQ(child.read_line(line, std::chrono::seconds(60)), ChildProcess::Outcome::line);
  EXPECT_EQ(line, std::string(1'000'000, 'a'));
  ASSERT_EQ(child.read_line(line, std::chrono::seconds(60)), ChildProcess::Outcome::line);
  EXPECT_EQ(line, "b");
}

TEST(Process, OneThatSomebodyElseHasWaitedForHasEnded) {
  Process child({.words = {"true"}, .own = ProcessPlan::Own::group});
  ASSERT_EQ(::waitpid(child.pid(), nullptr, 0), child.pid());
  const auto& end = child.wait(60);
  ASSERT_TRUE(end);
  EXPECT_NE(end->status, 0);
}

TEST(Process, WhatStopsTheWaitLeavesItRunning) {
  Process child({.words = {"sleep", "60"}});
  EXPECT_FALSE(child.wait(60, [] { return true; }));
  child.kill_now();
  EXPECT_EQ(child.wait(0)->signal, SIGKILL);
}

} // namespace
} // namespace diffbench::bench
