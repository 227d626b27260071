// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

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

} // namespace
} // namespace diffbench::bench
