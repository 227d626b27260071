// SPDX-License-Identifier: Apache-2.0
// The processor's meters on made-up file systems, and NVML played by fake_nvml.cpp.
#include "cpu_meters.hpp"
#include "gpu_meter.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/shared_library.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class MetersTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void zone(const std::string& directory, const std::string& name,
            const std::string& microjoules) const {
    const std::string path = "sys/class/powercap/" + directory;
    write(path + "/name", name);
    write(path + "/energy_uj", microjoules);
    write(path + "/max_energy_range_uj", "262143328850");
  }
  [[nodiscard]] const fs::path& root() const { return directory_.path(); }

  TemporaryDirectory directory_;
};

TEST_F(MetersTest, EnergyIsThatOfAllPackagesAndOfMemory) {
  zone("intel-rapl:0", "package-0", "1000000");
  zone("intel-rapl:0:0", "core", "1");
  zone("intel-rapl:0:1", "dram", "500000");
  zone("intel-rapl:1", "package-1", "7000000");
  zone("intel-rapl:2", "psys", "1");
  zone("intel-rapl-mmio:0", "package-0", "1000000"); // the same once more
  CpuEnergy energy(root());
  EXPECT_EQ(energy.why_not(), "");
  EXPECT_DOUBLE_EQ(energy.read()->packages, 0);
  zone("intel-rapl:0", "package-0", "3000000");
  zone("intel-rapl:0:0", "core", "900000");
  zone("intel-rapl:0:1", "dram", "750000");
  zone("intel-rapl:1", "package-1", "7500000");
  const auto joules = energy.read();
  EXPECT_DOUBLE_EQ(joules->packages, 2.5);
  EXPECT_DOUBLE_EQ(joules->dram.value(), 0.25);
}

TEST_F(MetersTest, EnergyFollowsACounterThatWrapsAround) {
  zone("intel-rapl:0", "package-0", "262143000000");
  CpuEnergy energy(root());
  (void)energy.read();
  zone("intel-rapl:0", "package-0", "671150");
  EXPECT_DOUBLE_EQ(energy.read()->packages, 1.0);
  zone("intel-rapl:0", "package-0", "1671150");
  EXPECT_DOUBLE_EQ(energy.read()->packages, 2.0);
  EXPECT_FALSE(energy.read()->dram);
}

TEST_F(MetersTest, EnergyThatCannotBeReadSaysWhy) {
  EXPECT_THAT(CpuEnergy(root()).why_not(), HasSubstr("no energy counter"));
  fs::create_directories(root() / "sys/class/powercap/intel-rapl:0/energy_uj");
  write("sys/class/powercap/intel-rapl:0/name", "package-0");
  CpuEnergy energy(root());
  EXPECT_THAT(energy.why_not(), HasSubstr("intel-rapl:0/energy_uj cannot be read"));
  EXPECT_THAT(energy.why_not(), HasSubstr("only root may"));
  EXPECT_FALSE(energy.read());
}

TEST_F(MetersTest, EnergyThatGoesAwayIsEmpty) {
  zone("intel-rapl:0", "package-0", "1");
  CpuEnergy energy(root());
  EXPECT_TRUE(energy.read());
  fs::remove_all(root() / "sys");
  EXPECT_FALSE(energy.read());
}

TEST_F(MetersTest, TheClockIsThatOfTheFastestCpuOfTheProcess) {
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000");
  write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3600000");
  write("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "5000000");
  EXPECT_DOUBLE_EQ(CpuClock(root(), {0, 1}).mhz().value(), 3600);
  EXPECT_THAT(CpuClock(root(), {0, 1}).detail(), HasSubstr("cpufreq"));
}

TEST_F(MetersTest, WithoutCpufreqTheClockIsThatOfCpuinfo) {
  write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.122\nprocessor: 1\ncpu MHz : 2700.5");
  EXPECT_DOUBLE_EQ(CpuClock(root(), {0}).mhz().value(), 2700.5);
  EXPECT_THAT(CpuClock(root(), {0}).detail(), HasSubstr("nominal"));
}

TEST_F(MetersTest, AClockThatNobodyTellsSaysSo) {
  EXPECT_FALSE(CpuClock(root(), {0}).mhz());
  EXPECT_THAT(CpuClock(root(), {0}).detail(), HasSubstr("neither"));
}

class GpuMeterTest : public testing::Test {
 protected:
  ~GpuMeterTest() override {
    plan("");
    EXPECT_EQ(alive_(), 0);
  }

  static void plan(const char* failing) { ::setenv("FAKE_NVML", failing, 1); }
  static std::string why_not(int device = 0) {
    try {
      const GpuMeter meter(FAKE_NVML_LIBRARY, device);
    } catch (const Unavailable& error) {
      return error.what();
    }
    return "";
  }

  GpuMeterTest() { library_.require("fake_nvml_alive", alive_); }
  SharedLibrary library_{FAKE_NVML_LIBRARY};
  int (*alive_)() = nullptr;
};

TEST_F(GpuMeterTest, ReadsTheCard) {
  GpuMeter meter(FAKE_NVML_LIBRARY, 0);
  EXPECT_EQ(alive_(), 1);
  const GpuReading reading = meter.read();
  EXPECT_DOUBLE_EQ(reading.watts.value(), 250.5);
  EXPECT_DOUBLE_EQ(reading.utilization_percent.value(), 98);
  EXPECT_DOUBLE_EQ(reading.memory_bytes.value(), 1 << 30);
  EXPECT_DOUBLE_EQ(reading.sm_mhz.value(), 1980);
  EXPECT_DOUBLE_EQ(reading.memory_mhz.value(), 2619);
  EXPECT_DOUBLE_EQ(reading.celsius.value(), 61);
  EXPECT_THAT(throttle_reasons(reading.throttle_reasons.value()), ElementsAre("power cap"));
  const double before = meter.joules().value();
  EXPECT_DOUBLE_EQ(meter.joules().value() - before, 2);
  EXPECT_EQ(meter.description(),
            "Toy GPU, PCIe 4 x8 of at most 5 x16 (an idle link may be slower)");
  EXPECT_THAT(meter.failures(), IsEmpty());
}

TEST_F(GpuMeterTest, WhatFailsIsEmptyAndTheRestIsRead) {
  plan("power=15 energy=3");
  GpuMeter meter(FAKE_NVML_LIBRARY, 0);
  const GpuReading reading = meter.read();
  EXPECT_FALSE(reading.watts);
  EXPECT_FALSE(meter.joules());
  EXPECT_TRUE(reading.celsius);
  EXPECT_THAT(meter.failures(),
              ElementsAre(Pair("energy counter", "Not Supported"), Pair("power", "GPU is lost")));
}

TEST_F(GpuMeterTest, NoCardSaysWhyAndLeavesNothingOpen) {
  EXPECT_EQ(why_not(), "");
  plan("init=3");
  EXPECT_EQ(why_not(), "NVML: nvmlInit: Not Supported");
  plan("handle=15");
  EXPECT_EQ(why_not(), "NVML: card 0000:AF:00.0: GPU is lost");
  plan("cuInit=100");
  EXPECT_EQ(why_not(), "the driver has no device 0");
  EXPECT_THROW(GpuMeter("no_such_library.so.1", 0), Unavailable);
}

// Not the one that has its number on the bus.
TEST_F(GpuMeterTest, TheCardIsTheOneThatCudaSees) {
  EXPECT_EQ(why_not(0), "");
  EXPECT_EQ(why_not(1), "NVML: card 0000:3B:00.0: GPU is lost");
  EXPECT_EQ(why_not(2), "the driver has no device 2");
}

} // namespace
} // namespace diffbench::bench
