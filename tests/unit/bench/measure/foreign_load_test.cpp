// SPDX-License-Identifier: Apache-2.0
#include "foreign_load.hpp"

#include "child_process.hpp"
#include "cpu_time.hpp"
#include "sample_result.hpp"
#include "thread_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A machine of so many CPUs, whose clock the test moves.
struct FakeCpus {
  std::optional<CpuAccount> account = CpuAccount{.cpus = 4, .usable = 4};

  LoadWatch watch() {
    return LoadWatch([this] { return account; });
  }
  /// `busy` CPUs for so many seconds, `own` of them by this process.
  void pass(double seconds, double busy, double own) {
    account->wall += seconds;
    account->busy += busy * seconds;
    account->own += own * seconds;
  }
};

std::string told(const LoadWatch& load) { return load.disturbance().value_or("nothing"); }

TEST(LoadWatch, WhatOthersHadIsWhatWasBusyBesidesThisProcess) {
  FakeCpus cpus;
  cpus.pass(100, 4, 0); // before it looked
  const LoadWatch load = cpus.watch();
  cpus.pass(10, 3.5, 2.3);
  EXPECT_NEAR(load.others().value(), 1.2, 0.01);
  EXPECT_THAT(told(load), HasSubstr("other programs were running: they used 1.2 of 4 CPUs"));
}

TEST(LoadWatch, OwnThreadsDisturbNobody) {
  FakeCpus cpus;
  const LoadWatch load = cpus.watch();
  cpus.pass(10, 4, 3.9);
  EXPECT_EQ(load.disturbance(), std::nullopt);
  const LoadWatch later = cpus.watch();
  cpus.pass(10, 1, 1.2); // ticks are coarse
  EXPECT_EQ(later.others(), 0);
}

TEST(LoadWatch, ATenthOfTheCpusOrAWholeOneDisturbs) {
  EXPECT_FALSE(disturbs(0.19, 2));
  EXPECT_TRUE(disturbs(0.21, 2));
  EXPECT_FALSE(disturbs(0.9, 64));
  EXPECT_TRUE(disturbs(1.1, 64)); // a team of 64 threads waits for the one that shares its CPU
}

TEST(LoadWatch, UnderAQuotaOthersHaveTheRestOfTheMachine) {
  FakeCpus cpus;
  cpus.account = CpuAccount{.cpus = 64, .usable = 4};
  const LoadWatch load = cpus.watch();
  cpus.pass(10, 54, 4); // 10 CPUs idle
  EXPECT_EQ(load.disturbance(), std::nullopt);
  cpus.pass(90, 64, 1); // 63 for others: three of the four
  EXPECT_THAT(told(load), HasSubstr("of 4 CPUs"));
}

TEST(LoadWatch, AMomentOrAnUnknownSystemTellsNothing) {
  FakeCpus cpus;
  const LoadWatch load = cpus.watch();
  cpus.pass(0.01, 4, 0); // a tick
  EXPECT_EQ(load.disturbance(), std::nullopt);
  cpus.pass(0.2, 4, 0);
  EXPECT_NE(load.disturbance(), std::nullopt);
  cpus.account.reset();
  const LoadWatch blind = cpus.watch();
  EXPECT_EQ(blind.disturbance(), std::nullopt);
  EXPECT_EQ(LoadWatch([] { return std::optional<CpuAccount>(); }).others(), std::nullopt);
}

TEST(LoadWatch, ReadsThisMachine) {
  const std::optional<CpuAccount> account = read_cpu_account();
  if (account) { // a sandbox may hide it
    EXPECT_GT(account->own, 0);
    EXPECT_GT(account->busy, account->own / 2); // of all processes; ticks are coarse
    EXPECT_GE(account->cpus, account->usable);
  }
}

TEST(LoadWatch, AChildThatLivesIsNoOther) {
  const auto account = [] { return read_cpu_account().value_or(CpuAccount()); };
  if (!read_cpu_account() || thread_times("/proc/self", false).empty()) {
    GTEST_SKIP() << "a sandbox hides what is counted";
  }
  ChildProcess child({"sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo; cat"});
  const double begin = account().own;
  const CpuTime ours;
  std::string line;
  ASSERT_EQ(child.read_line(line, std::chrono::minutes(5)), ChildProcess::Outcome::line);
  EXPECT_GT(account().own - begin, ours.seconds() + 0.02);
}

TEST(LoadWatch, CountsOnlyTheCpusOfTheMask) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("load_watch_" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc");
  const auto stat = [&](int cpus) {
    std::ofstream file(root / "proc/stat");
    file << "cpu  1 1 1 1 1 1 1 1 0 0\n";
    for (int cpu = 0; cpu < cpus; ++cpu) {
      file << "cpu" << cpu << " 100 10 20 5000 300 7 3 60 9 9\n"; // 200 ticks of work
    }
  };
  stat(4096);
  const std::optional<CpuAccount> account = read_cpu_account(root);
  ASSERT_TRUE(account);
  EXPECT_NEAR(account->busy, 200.0 * account->cpus / static_cast<double>(sysconf(_SC_CLK_TCK)),
              1e-9);
  stat(0); // as where a container numbers its CPUs anew
  EXPECT_FALSE(read_cpu_account(root));
  std::filesystem::remove_all(root);
  EXPECT_FALSE(read_cpu_account(root));
}

void halve_cpu_time(Row& row) {
  for (Sample& sample : row.samples) {
    *sample.cpu_seconds /= 2;
  }
}

std::string told(const ComparisonResult& result) {
  LoadWatch load([] { return std::optional<CpuAccount>(); });
  load.add_work(result);
  return told(load);
}

TEST(LoadWatch, ShowsInRowsThatGotLessThanACpu) {
  ComparisonResult result = sample_result();
  EXPECT_EQ(told(result), "nothing");
  halve_cpu_time(result.rows[0]);
  EXPECT_THAT(told(result), HasSubstr("rows got 55 % of a CPU")); // the other one is quick
  EXPECT_THAT(told(result), Not(HasSubstr("they used")));
}

TEST(LoadWatch, OneOfTwoThreadsMayWaitButNotBoth) {
  ComparisonResult result = sample_result();
  result.rows = {result.rows[1]}; // its two threads had one CPU
  EXPECT_EQ(told(result), "nothing");
  halve_cpu_time(result.rows[0]);
  EXPECT_THAT(told(result), HasSubstr("rows got 50 % of a CPU"));
}

/// What one row got besides makes up for nothing.
TEST(LoadWatch, ARowWithManyCpusHidesNoOtherOne) {
  LoadWatch load([] { return std::optional<CpuAccount>(); });
  load.add_work(64, 1);
  load.add_work(0.5, 1);
  EXPECT_THAT(told(load), HasSubstr("rows got 75 % of a CPU"));
}

TEST(LoadWatch, DevicesProveNothing) {
  ComparisonResult result = sample_result();
  halve_cpu_time(result.rows[0]);
  result.rows[0].device = DeviceKind::cuda; // the host slept
  EXPECT_EQ(told(result), "nothing");
  EXPECT_EQ(told(ComparisonResult{}), "nothing");
}

} // namespace
} // namespace diffbench::bench
