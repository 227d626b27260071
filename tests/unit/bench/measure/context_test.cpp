// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string fact(const Facts& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, [](const auto& pair) { return pair.first; });
  return found == facts.end() ? "no such fact" : found->second;
}

TEST(FormatBytes, UsesThreeDigitsAndBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(48 << 10), "48 KiB");
  EXPECT_EQ(format_bytes(1'638'400), "1.56 MiB");
  EXPECT_EQ(format_bytes(1000 << 10), "0.977 MiB"); // not "1e+03 KiB"
  EXPECT_EQ(format_bytes(std::int64_t{3} << 40), "3 TiB");
  EXPECT_EQ(format_bytes(1e21), "867 EiB"); // beyond 64 bits
}

TEST(Context, KeepsNamesAndOrder) {
  std::vector<std::string> names;
  for (const auto& [name, value] : run_context()) {
    names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("diffbench_version", "git_sha", "compiler", "flags", "build_type",
                                 "arch", "cpu_model", "isa", "usable_cpus", "cache_l1d", "cache_l2",
                                 "cache_l3", "governor", "memory_available", "os", "kernel", "cuda",
                                 "gpu_name", "cuda_runtime", "cuda_driver"));
}

TEST(Context, KnowsItsBuild) {
  const Facts facts = run_context();
  EXPECT_THAT(facts, Each(testing::Field(&Facts::value_type::second, Not(""))));
  EXPECT_THAT(fact(facts, "git_sha"), MatchesRegex("unknown|[0-9a-f]{40}(-dirty)?"));
  EXPECT_THAT(fact(facts, "compiler"), MatchesRegex("(GCC|Clang) [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(fact(facts, "flags"), MatchesRegex(".*-ffp-contract=off.*"));
  EXPECT_THAT(fact(facts, "flags"), Not(MatchesRegex(".*-W[a-z].*")));
}

TEST(Context, ReadsTheMachineUnderTheRoot) {
  const fs::path root = fs::path(::testing::TempDir()) / "context_test_root";
  const fs::path governor = root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  fs::create_directories(governor.parent_path());
  fs::create_directories(root / "etc");
  std::ofstream(governor) << "powersave\n";
  std::ofstream(root / "etc/os-release") << "ID=toy\nPRETTY_NAME=\"Toy OS 7\"\n";

  const Facts facts = run_context(root);
  EXPECT_EQ(fact(facts, "governor"), "powersave");
  EXPECT_EQ(fact(facts, "os"), "Toy OS 7");
  EXPECT_EQ(fact(facts, "kernel"), "unknown");
  fs::remove_all(root);
}

} // namespace
} // namespace diffbench::bench
