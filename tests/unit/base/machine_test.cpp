// SPDX-License-Identifier: Apache-2.0
// Machines made of files: each test lays out what the kernel would show under another root.
#include "diffbench/machine.hpp"

#include "scratch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

TEST(IsaTest, NamesGoBothWays) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    EXPECT_EQ(isa_names.parse(to_string(isa)), isa);
  }
  EXPECT_THAT(message_of<InvalidInput>([] { static_cast<void>(isa_names.parse("avx")); }),
              testing::HasSubstr("baseline, avx2, avx512"));
}

TEST(IsaTest, TheBestIsWhatTheKernelLists) {
  std::ifstream stream("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("flags")) {
      flags = line + " ";
    }
  }
  const auto has = [&](const char* flag) {
    return flags.find(" " + std::string(flag) + " ") != flags.npos;
  };
  const bool avx2 = has("avx2") && has("fma");
  const bool avx512 =
      avx2 && has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw");
  EXPECT_EQ(best_isa(), avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::baseline);
}

TEST(MachineTest, ThisMachineIsPlausible) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_GT(available_memory(), 1 << 20);
  EXPECT_FALSE(cpu_model().empty());
  const Caches caches = read_caches();
  EXPECT_GE(caches.l1d, 4 << 10);
  EXPECT_GE(caches.l2, caches.l1d);
}

class FakeMachine : public ScratchTest {
 public:
  void put_cache(const std::string& index, const char* level, const char* type,
                 const char* size) const {
    const std::filesystem::path base = "sys/devices/system/cpu/cpu0/cache/index" + index;
    put(base / "level", std::string(level) + "\n");
    put(base / "type", std::string(type) + "\n");
    put(base / "size", std::string(size) + "\n");
  }
  void put_cgroups(std::string_view lines) const { put("proc/self/cgroup", lines); }
  // Paths below the cgroup mount.
  void put_limit(const std::string& path, std::string_view content) const {
    put("sys/fs/cgroup/" + path, std::string(content) + "\n");
  }
};

TEST_F(FakeMachine, CachesAreReadByLevelAndType) {
  put_cache("0", "1", "Data", "48K");
  put_cache("1", "1", "Instruction", "64K");
  put_cache("2", "2", "Unified", "2048K");
  put_cache("3", "3", "Unified", "260M");
  const Caches caches = read_caches(directory());
  EXPECT_EQ(caches.l1d, 48 << 10);
  EXPECT_EQ(caches.l2, 2 << 20);
  EXPECT_EQ(caches.l3, 260 << 20);
}

TEST_F(FakeMachine, WhatTheSystemDoesNotTellKeepsATypicalValue) {
  const Caches typical;
  EXPECT_EQ(read_caches(directory()).l2, typical.l2);
  put_cache("0", "1", "Data", "");
  put_cache("1", "2", "Unified", "many");
  put_cache("2", "3", "Unified", "-4K");
  const Caches caches = read_caches(directory());
  EXPECT_EQ(caches.l1d, typical.l1d);
  EXPECT_EQ(caches.l2, typical.l2);
  EXPECT_EQ(caches.l3, typical.l3);
}

// The affinity mask is always the real one, so that only quotas up to one CPU can be told apart
// from it on any machine.
TEST_F(FakeMachine, WithoutAQuotaTheAffinityCounts) {
  const int affinity = usable_cpus(directory());
  EXPECT_GE(affinity, 1);
  put_cgroups("0::/job\n");
  EXPECT_EQ(usable_cpus(directory()), affinity); // no cpu.max at all
  for (const char* none : {"max 100000", "max", "", "garbage", "100000", "100000 0", "-1 100000",
                           "100000000000 100000"}) {
    put_limit("job/cpu.max", none);
    EXPECT_EQ(usable_cpus(directory()), affinity) << none;
  }
  for (const char* garbage : {"", "0", "0:", "::::\n", "4:cpu\n", "\n\n0::\n"}) {
    put_cgroups(garbage);
    EXPECT_EQ(usable_cpus(directory()), affinity) << garbage;
  }
}

TEST_F(FakeMachine, AQuotaOfVersionTwoIsRoundedUp) {
  put_cgroups("0::/job\n");
  for (const char* one : {"100000 100000", "50000 100000", "1000 100000", "1 1"}) {
    put_limit("job/cpu.max", one);
    EXPECT_EQ(usable_cpus(directory()), 1) << one;
  }
  put_limit("job/cpu.max", "110000 100000");
  EXPECT_DOUBLE_EQ(cpu_quota(directory()), 1.1);
  EXPECT_TRUE(std::isinf(cpu_quota(directory() / "no quota")));
  EXPECT_EQ(usable_cpus(directory()), std::min(2, usable_cpus(directory() / "no quota")));
}

TEST_F(FakeMachine, AQuotaOfAParentHolds) {
  put_cgroups("0::/slice/job/step\n");
  put_limit("slice/job/step/cpu.max", "max 100000");
  put_limit("slice/cpu.max", "100000 100000");
  EXPECT_EQ(usable_cpus(directory()), 1);
}

TEST_F(FakeMachine, AContainerThatSeesTheHostsPathReadsItsOwnMount) {
  put_cgroups("0::/docker/0123abcd\n");
  put_limit("cpu.max", "100000 100000");
  EXPECT_EQ(usable_cpus(directory()), 1);
}

TEST_F(FakeMachine, AQuotaOfVersionOne) {
  const int affinity = usable_cpus(directory());
  put_cgroups("5:memory:/\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
  put_limit("cpu/job/cpu.cfs_period_us", "100000");
  put_limit("cpu/job/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(usable_cpus(directory()), affinity);
  put_limit("cpu/job/cpu.cfs_quota_us", "50000");
  EXPECT_EQ(usable_cpus(directory()), 1);
  put_cgroups("4:cpuset:/job\n"); // another controller, whose name begins alike
  EXPECT_EQ(usable_cpus(directory()), affinity);
}

TEST_F(FakeMachine, MemoryIsWhatTheKernelCallsAvailable) {
  put("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  100 kB\nMemAvailable:    4000 kB\n");
  EXPECT_EQ(available_memory(directory()), 4000 << 10);
}

TEST_F(FakeMachine, MemoryThatNobodyTellsIsWhatIsFree) {
  constexpr std::int64_t more_than_any_machine_has = std::int64_t{1} << 50;
  EXPECT_LT(available_memory(directory()), more_than_any_machine_has);
  for (const char* garbage : {"", "MemAvailable:", "MemAvailable: -3 kB", "MemAvailable: much",
                              "MemAvailable: 9223372036854775807 kB"}) {
    put("proc/meminfo", garbage);
    EXPECT_LT(available_memory(directory()), more_than_any_machine_has) << garbage;
    EXPECT_GT(available_memory(directory()), 1 << 20) << garbage;
  }
}

TEST_F(FakeMachine, TheLimitOfVersionTwoCutsMemoryDown) {
  put("proc/meminfo", "MemAvailable: 4000 kB\n");
  put_cgroups("0::/slice/job\n");
  put_limit("slice/job/memory.max", "max");
  put_limit("slice/job/memory.current", "700000");
  EXPECT_EQ(available_memory(directory()), 4000 << 10);
  put_limit("slice/memory.max", "1000000");
  put_limit("slice/memory.current", "800000");
  EXPECT_EQ(available_memory(directory()), 200000);
  // Cached files give way.
  put_limit("slice/memory.stat", "anon 500000\ninactive_file 300000\nactive_file 1");
  EXPECT_EQ(available_memory(directory()), 500000);
  // A figure that cannot be true frees no more than is used.
  put_limit("slice/memory.stat", "inactive_file 99999999");
  EXPECT_EQ(available_memory(directory()), 1000000);
  put_limit("slice/memory.stat", "");
  put_limit("slice/memory.current", "1200000"); // over the limit, as after lowering it
  EXPECT_EQ(available_memory(directory()), 0);
}

TEST_F(FakeMachine, TheLimitOfVersionOneCutsMemoryDown) {
  put("proc/meminfo", "MemAvailable: 4000 kB\n");
  put_cgroups("4:memory:/job\n0::/\n");
  put_limit("memory/job/memory.usage_in_bytes", "600000");
  put_limit("memory/job/memory.limit_in_bytes", "9223372036854771712"); // the kernel's "none"
  EXPECT_EQ(available_memory(directory()), 4000 << 10);
  put_limit("memory/job/memory.limit_in_bytes", "1000000");
  EXPECT_EQ(available_memory(directory()), 400000);
  put_limit("memory/job/memory.stat", "inactive_file 5\ntotal_inactive_file 100000");
  EXPECT_EQ(available_memory(directory()), 500000);
}

TEST_F(FakeMachine, TheCpuModel) {
  EXPECT_EQ(cpu_model(directory()), "unknown CPU");
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: X\nmodel\t\t: 7\nmodel name\t: Test CPU @ 1 GHz\n");
  EXPECT_EQ(cpu_model(directory()), "Test CPU @ 1 GHz");
}

TEST_F(FakeMachine, AnArmCpuHasNumbersForAName) {
  const auto named = [&](const std::string& implementer, const std::string& part) {
    put("proc/cpuinfo",
        "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\n"
        "CPU implementer\t: " +
            implementer +
            "\nCPU architecture: 8\nCPU variant\t: 0x3\n"
            "CPU part\t: " +
            part + "\nCPU revision\t: 1\n");
    return cpu_model(directory());
  };
  EXPECT_EQ(named("0x41", "0xd0c"), "Arm Neoverse N1, variant 0x3");
  EXPECT_EQ(named("0x41", "0xd40"), "Arm Neoverse V1, variant 0x3");
  EXPECT_EQ(named("0x41", "0xd4f"), "Arm Neoverse V2, variant 0x3");
  EXPECT_EQ(named("0x41", "0xd0b"), "Arm Cortex-A76, variant 0x3");
  EXPECT_EQ(named("0x61", "0xd0c"), "Arm CPU, implementer 0x61, part 0xd0c, variant 0x3");
}

TEST_F(FakeMachine, TheNumbersOfACore) {
  EXPECT_EQ(cpu_numbers(directory()).vendor, "");
  EXPECT_EQ(cpu_numbers(directory()).model, 0);
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
      "model name\t: AMD EPYC\n");
  const CpuNumbers zen5 = cpu_numbers(directory());
  EXPECT_EQ(zen5.vendor, "AuthenticAMD");
  EXPECT_EQ(zen5.family, 26);
  EXPECT_EQ(zen5.model, 2);
  put("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  const CpuNumbers arm = cpu_numbers(directory());
  EXPECT_EQ(arm.vendor, "0x41");
  EXPECT_EQ(arm.model, 0xd0c);
}

} // namespace
} // namespace diffbench
