// SPDX-License-Identifier: Apache-2.0

#include "least_effect.hpp"
#include "verbs.hpp"

#include "diffbench/registry.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Doctor : public ::testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string report() {
    const LabReport report = doctor_report(root_);
    EXPECT_EQ(report.outcome.exit_code, 0);
    return report.text;
  }

  fs::path root_ =
      fs::path(::testing::TempDir()) / ("diffbench_doctor_test_" + std::to_string(getpid()));
};

TEST_F(Doctor, ReportsAMachineThatIsSetUpBadly) {
  write("sys/devices/system/cpu/online", "0-4095,5000\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  write("proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n");
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Toy CPU 9000\n");
  write("proc/driver/nvidia/version", "NVRM version: toy\nGCC version: toy\n");

  const std::string text = report();
  EXPECT_THAT(text, ContainsRegex("model +Toy CPU 9000\n"));
  EXPECT_THAT(text, ContainsRegex("CPUs +[0-9]+ usable of 4097 \\(affinity"));
  EXPECT_THAT(text, ContainsRegex("clock +governor powersave, boost on\n"));
  EXPECT_THAT(text, ContainsRegex("total +16 GiB\n"));
  EXPECT_THAT(text, ContainsRegex("driver +NVRM version: toy\n"));
  EXPECT_THAT(text, HasSubstr("cpupower frequency-set -g performance"));
  EXPECT_THAT(text, HasSubstr("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
}

TEST_F(Doctor, SaysToWaitWhileOthersRun) {
  write("proc/loadavg", "5.31 4.00 3.00 6/111 8993\n");
  for (const double others : {0.0, 1.9}) {
    CpuAccount account{.cpus = 2, .usable = 2};
    const std::string text = doctor_report(root_, [&] {
                               account.wall += 1;
                               account.busy += others;
                               return std::optional(account);
                             }).text;
    EXPECT_THAT(text, ContainsRegex("load +5\\.31; other programs use [01]\\.[09] of [0-9]+ CPU"));
    EXPECT_EQ(text.find(": other programs use 1.9 of them now") != std::string::npos, others > 0)
        << text;
  }
}

TEST_F(Doctor, DoesNotInventWhatItCannotRead) {
  const std::string text = report();
  EXPECT_THAT(text, ContainsRegex("clock +governor unknown, boost unknown\n"));
  EXPECT_THAT(text, ContainsRegex("total +unknown\n"));
  EXPECT_THAT(text, ContainsRegex("load +unknown"));
  EXPECT_THAT(text, ContainsRegex("driver +none\n|no NVIDIA GPU or driver here\n"));
  EXPECT_THAT(text, Not(HasSubstr("cpupower")));
}

TEST_F(Doctor, SaysWhichPeersAreMissingAndHowToGetThem) {
  setenv("DIFFBENCH_PYTHON", "/bin/false", 1);
  const std::string text = report();
  unsetenv("DIFFBENCH_PYTHON");
  EXPECT_THAT(text, ContainsRegex("Peers\n  available +0 of [0-9]+ .diffbench list.\n"));
  EXPECT_THAT(text, HasSubstr("apt-get install python3-numba"));
  EXPECT_THAT(text, HasSubstr("apt-get install python3-halide"));
}

TEST_F(Doctor, ShowsWhatTheSelfTestFoundBesideWhatIsPromised) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", (root_ / "cache").c_str(), 1);
  EXPECT_THAT(report(), ContainsRegex("not measured +diffbench selftest"));
  const LineCache cache = LineCache::standard("verdicts");
  keep_identical_code({.trials = 20, .wrong = 9, .least_effect = 0.09}, cache);
  const std::string text = report();
  before != nullptr ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(text, ContainsRegex("rows of a run +9 of 20 wrong, 1 % promised\n"));
  EXPECT_THAT(text, HasSubstr("identical code gets verdicts here"));
}

TEST(List, HasEveryBackendAndPeer) {
  const std::string text = list_report().text;
  for (const BackendInfo& backend : all_backends()) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(backend.name) + " "));
  }
  for (const NotCompiled& backend : missing_backends()) {
    EXPECT_THAT(text, ContainsRegex(std::string(backend.name) + " .*(not compiled: |as above)"));
  }
  EXPECT_THAT(text, ContainsRegex("\nnumpy +yes +--peer numpy\n"));
}

} // namespace
} // namespace diffbench::bench
