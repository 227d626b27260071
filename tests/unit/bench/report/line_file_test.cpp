// SPDX-License-Identifier: Apache-2.0
#include "line_file.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class LineFileTest : public testing::Test {
 protected:
  /// Somebody else has it locked until the descriptor is closed.
  [[nodiscard]] FileDescriptor locked() const {
    FileDescriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    EXPECT_EQ(::flock(file.get(), LOCK_EX), 0);
    return file;
  }
  static std::string message_of(const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory place_;
  std::filesystem::path path_ = place_.path() / "lines";
};

TEST_F(LineFileTest, LinesAreAppendedWholeAndRead) {
  LineFile("--x", path_, LineFile::Sharing::waits).append("a\nb\n");
  std::ofstream(path_, std::ios::app) << "cut";
  LineFile file("--x", path_, LineFile::Sharing::waits);
  file.append("c\n");
  EXPECT_EQ(file.lines(), (std::vector<std::string>{"a", "b", "cut", "c"}));
}

TEST_F(LineFileTest, WaitsForTheLockAndGivesUp) {
  FileDescriptor other = locked();
  const auto wait = [&](std::chrono::duration<double> limit) {
    LineFile("--x", path_, LineFile::Sharing::waits, limit).append("mine\n");
  };
  EXPECT_THAT(message_of([&] { wait(50ms); }),
              HasSubstr("somebody else has been writing to it for 0.05 s; nothing was added"));
  EXPECT_THAT(message_of([&] { LineFile("--x", path_, LineFile::Sharing::refuses); }),
              HasSubstr("somebody else is writing to it"));
  std::thread waiting([&] { wait(60s); });
  std::this_thread::sleep_for(50ms);
  other.reset();
  waiting.join();
  EXPECT_EQ(lines_of_file("--x", path_), std::vector<std::string>{"mine"});
}

TEST_F(LineFileTest, CtrlCEndsTheWait) {
  const FileDescriptor other = locked();
  {
    const InterruptGuard guard;
    std::raise(SIGINT);
    EXPECT_THROW(LineFile("--x", path_, LineFile::Sharing::waits, 60s), Interrupted);
  }
  const InterruptGuard forgets; // for the tests after this one
}

TEST_F(LineFileTest, WhatCannotBeReadIsNoEmptyFile) {
  EXPECT_THAT(message_of([] { (void)lines_of_file("--x", "/proc/self/mem"); }),
              HasSubstr("--x /proc/self/mem: cannot read: "));
  EXPECT_THAT(message_of([&] { (void)lines_of_file("--x", place_.path()); }),
              HasSubstr("cannot read: "));
  EXPECT_THAT(message_of([&] { (void)lines_of_file("--x", path_); }), HasSubstr("cannot open: "));
}

} // namespace
} // namespace diffbench::bench
