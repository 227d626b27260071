// SPDX-License-Identifier: Apache-2.0
// Of a process whose threads the test writes.
#include "stolen_time.hpp"

#include "cpu_time.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace diffbench::bench {
namespace {

class StolenTimeTest : public testing::Test {
 protected:
  void set(const std::string& thread, double ran, double waited, const char* process = "7") {
    const auto folder = proc_.path() / process / "task" / thread;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "schedstat")
        << static_cast<long>(1e9 * ran) << ' ' << static_cast<long>(1e9 * waited) << " 12\n";
  }
  Sample told(const StolenTime& stolen, double seconds, std::optional<double> cpu = {}) {
    Sample sample{.iterations = 1, .seconds = seconds, .cpu_seconds = cpu};
    stolen.tell(sample);
    return sample;
  }

  TemporaryDirectory proc_;
};

TEST_F(StolenTimeTest, OfOneThreadIsWhatItWaited) {
  set("7", 100, 50);
  set("8", 1, 1); // sleeps
  const StolenTime stolen(7, proc_.path());
  set("7", 102, 51.5);
  const Sample sample = told(stolen, 3.5);
  EXPECT_DOUBLE_EQ(sample.stolen_seconds, 1.5);
  EXPECT_DOUBLE_EQ(sample.worked_seconds, 2);
  EXPECT_TRUE(sample.on_one_thread);
}

TEST_F(StolenTimeTest, OfSeveralIsTheSumAndTheLeastWorkIsNeededInAnyCase) {
  set("7", 0, 0);
  const StolenTime stolen(7, proc_.path());
  set("7", 2, 1);
  set("9", 1.5, 1.75); // began meanwhile
  Sample sample = told(stolen, 4);
  EXPECT_DOUBLE_EQ(sample.stolen_seconds, 2.75);
  EXPECT_DOUBLE_EQ(sample.worked_seconds, 1.5);
  EXPECT_FALSE(sample.on_one_thread);
  sample = told(stolen, 4, 3.25); // 0.25 of the work was done before it began
  EXPECT_DOUBLE_EQ(sample.worked_seconds, 1.25);
  EXPECT_DOUBLE_EQ(told(stolen, 1).stolen_seconds, 1) << "never more than it took";
}

TEST_F(StolenTimeTest, AThreadThatGivesItsTurnsAwayCounts) {
  set("7", 0, 0);
  set("8", 0, 0);
  const StolenTime stolen(7, proc_.path());
  set("7", 2, 0);
  set("8", 0.01, 1);
  EXPECT_DOUBLE_EQ(told(stolen, 2).stolen_seconds, 1);
  EXPECT_FALSE(told(stolen, 2).on_one_thread);
}

// A program that confines another one sleeps while that works.
TEST_F(StolenTimeTest, OfAProcessAreThoseThatItStarted) {
  set("7", 1, 0);
  std::ofstream(proc_.path() / "7/task/7/children") << "12 ";
  set("12", 5, 1, "12");
  std::ofstream(proc_.path() / "12/task/12/children") << "13 14 ";
  set("14", 0, 0, "14");
  const StolenTime stolen(7, proc_.path());
  set("14", 2, 1, "14");
  const Sample sample = told(stolen, 3);
  EXPECT_DOUBLE_EQ(sample.stolen_seconds, 1);
  EXPECT_TRUE(sample.on_one_thread);
}

TEST_F(StolenTimeTest, WhereTheSystemDoesNotTellAllOfAnotherProcessMayBeStolen) {
  const Sample sample = told(StolenTime(7, proc_.path()), 3);
  EXPECT_EQ(sample.stolen_seconds, 3);
  EXPECT_FALSE(sample.on_one_thread);
  EXPECT_EQ(told(StolenTime(0, proc_.path()), 3).stolen_seconds, 0);
}

TEST(StolenTime, ReadsThisProcess) {
  const StolenTime stolen;
  const CpuTime cpu;
  while (cpu.seconds() < 0.01) {
  }
  Sample sample{.iterations = 1, .seconds = 1e-3, .cpu_seconds = {}};
  stolen.tell(sample);
  EXPECT_GT(sample.worked_seconds, 0);
}

} // namespace
} // namespace diffbench::bench
