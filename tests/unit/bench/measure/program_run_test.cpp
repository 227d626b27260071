// SPDX-License-Identifier: Apache-2.0
#include "program_run.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "digest.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

Program shell(const std::string& script, double limit_seconds = 0) {
  return Program({.words = {"sh", "-c", script}, .limit_seconds = limit_seconds});
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ProgramRun, HasTheStatus) {
  EXPECT_EQ(Program({.words = {"true"}}).run().status, 0);
  EXPECT_EQ(shell("exit 7").run().status, 7);
  EXPECT_EQ(shell("exit 255").run().signal, 0);
  const ProgramRun killed = shell("kill -9 $$").run();
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  EXPECT_EQ(killed.signal, SIGKILL);
}

TEST(ProgramRun, SaysWhatItTook) {
  const ProgramRun run = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").run();
  EXPECT_GT(run.seconds, 0);
  EXPECT_GT(run.user_seconds, 0);
  EXPECT_GT(run.page_faults, 0);
  const Stopwatch watch;
  const ProgramRun slept = shell("sleep 0.1").run();
  EXPECT_GE(slept.seconds, 0.1);
  EXPECT_LE(slept.seconds, watch.seconds());
  EXPECT_LT(slept.user_seconds, 0.1);
  EXPECT_GT(slept.context_switches, 0);
}

TEST(ProgramRun, HasAPeakOfMemoryAboveOurOwn) {
  EXPECT_FALSE(Program({.words = {"true"}}).run().peak_bytes);
  const auto peak = Program({.words = {"dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1"}})
                        .run()
                        .peak_bytes;
  ASSERT_TRUE(peak);
  EXPECT_GE(*peak, std::int64_t{1} << 30);
}

TEST(ProgramRun, ReadsWhatItWrites) {
  ProgramOutput output;
  (void)shell("echo out; echo first >&2; echo ' last ' >&2").run(output);
  EXPECT_EQ(output.bytes, 4);
  EXPECT_EQ(output.digest, sha256(std::as_bytes(std::span(std::string_view("out\n")))));
  EXPECT_EQ(output.last_words, "last");
  (void)shell("echo 'no newline' | tr -d '\\n' >&2").run(output);
  EXPECT_EQ(output.last_words, "no newline");
  (void)shell("head -c 3000000 /dev/zero").run(output);
  EXPECT_EQ(output.bytes, 3'000'000);
}

/// Whether the process whose number is in the file ends soon: its new parent may take a moment to
/// bury it.
bool ends_soon(const std::string& file) {
  pid_t process = 0;
  std::ifstream(file) >> process;
  EXPECT_GT(process, 0);
  const Stopwatch watch;
  std::string state = "R";
  while (watch.seconds() < 5 && !state.empty() && state != "Z") {
    std::string word;
    state.clear();
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    stat >> word >> word >> state;
  }
  return state.empty() || state == "Z";
}

TEST(ProgramRun, OfOneThatNeverEndsIsKilledWithWhatItStarted) {
  const TemporaryDirectory place;
  const std::string file = (place.path() / "pid").string();
  const Program program = shell("sleep 100 & echo $! > " + file + "; yes", 0.2);
  EXPECT_THAT(message_of([&] { (void)program.run(); }), HasSubstr("did not end within 0.2 s"));
  ProgramOutput output;
  EXPECT_THAT(message_of([&] { (void)program.run(output); }), HasSubstr("did not end within"));
  EXPECT_TRUE(ends_soon(file));
}

TEST(ProgramRun, KillsWhatItLeavesBehindAndDoesNotWaitForIt) {
  const TemporaryDirectory place;
  const std::string file = (place.path() / "pid").string();
  const Program program = shell("sleep 20 & echo $! > " + file + "; echo done; exit 3");
  const Stopwatch watch;
  ProgramOutput output;
  EXPECT_EQ(program.run(output).status, 3);
  EXPECT_EQ(output.bytes, 5);
  EXPECT_TRUE(ends_soon(file));
  EXPECT_EQ(program.run().status, 3);
  EXPECT_TRUE(ends_soon(file));
  EXPECT_LT(watch.seconds(), 10);
}

// timeout(1) has a group of its own, and `set -m` makes one of each job.
TEST(ProgramRun, KillsWhatIsInOtherGroupsOfItsSession) {
  const TemporaryDirectory place;
  const std::string file = (place.path() / "pid").string();
  const std::string sleeps = "sh -c 'echo $$ > " + file + "; exec sleep 77'";
  EXPECT_THAT(message_of([&] { (void)shell("timeout 77 " + sleeps + "; true", 2).run(); }),
              HasSubstr("did not end within 2 s"));
  EXPECT_TRUE(ends_soon(file));
  const Program leaves(
      {.words = {"bash", "-c",
                 "set -m; " + sleeps + " & while ! test -s " + file + "; do :; done"}});
  std::ofstream(file, std::ios::trunc).close();
  EXPECT_EQ(leaves.run().status, 0);
  EXPECT_TRUE(ends_soon(file));
  ProgramOutput output;
  std::ofstream(file, std::ios::trunc).close();
  EXPECT_EQ(leaves.run(output).status, 0);
  EXPECT_TRUE(ends_soon(file));
}

TEST(ProgramRun, HasNoInputAndNoTerminal) {
  ProgramOutput output;
  (void)Program({.words = {"cat"}}).run(output);
  EXPECT_EQ(output.bytes, 0);
  EXPECT_NE(shell("read x < /dev/tty").run().status, 0);
}

TEST(Program, IsLookedForBeforeItRuns) {
  EXPECT_THAT(message_of([] { (void)Program({.words = {"no-such-program"}}); }),
              HasSubstr("no such program in PATH"));
  EXPECT_THAT(message_of([] { (void)Program({.words = {"./no-such-file"}}); }),
              HasSubstr("there is no such file"));
  EXPECT_THAT(message_of([] { (void)Program({.words = {"/etc/passwd"}}); }),
              HasSubstr("cannot be run"));
}

} // namespace
} // namespace diffbench::bench
