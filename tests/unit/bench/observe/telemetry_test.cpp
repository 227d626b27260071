// SPDX-License-Identifier: Apache-2.0
// What is attributed to whom, on a clock of the test's own.
#include "telemetry.hpp"
#include "json.hpp"

#include "fake_clock.hpp"
#include "sample_result.hpp"
#include "table.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Counters counters(double cpu, double gpu) {
  return {.cpu = CpuEnergy::Joules{.packages = cpu, .dram = {}}, .gpu_joules = gpu};
}

TelemetryReading reading(double time, double mhz, double watts, std::uint64_t reasons = 0) {
  GpuReading gpu;
  gpu.watts = watts;
  gpu.utilization_percent = 10 * time;
  gpu.throttle_reasons = reasons;
  return {.time = time, .cpu_mhz = mhz, .gpu = gpu};
}

/// Two rows that take turns: a for 1 s, b for 2 s, and again.
class SummaryTest : public testing::Test {
 protected:
  [[nodiscard]] RowTelemetry of(const char* row, bool on_gpu = true) const {
    return summarize_telemetry(stretches_, readings_, row, 1e9, on_gpu);
  }

  std::vector<TimedStretch> stretches_{
      {"a", 10, 0, 1, counters(0, 100), counters(5, 130)},
      {"b", 40, 2, 4, counters(6, 140), counters(8, 200)},
      {"a", 10, 5, 6, counters(9, 210), counters(24, 230)},
      {"b", 40, 7, 9, counters(25, 240), counters(27, 300)},
  };
  std::vector<TelemetryReading> readings_{
      reading(0.5, 3000, 50, 0x4),   reading(1.5, 9000, 900), // between two stretches
      reading(2.5, 2000, 30),        reading(5.25, 3100, 70),
      reading(5.75, 3200, 90, 0x41), reading(8, 2000, 30)};
};

TEST_F(SummaryTest, EnergyIsThatOfTheRowsOwnStretches) {
  const RowTelemetry a = of("a");
  EXPECT_DOUBLE_EQ(a.seconds, 2);
  EXPECT_DOUBLE_EQ(a.cell_updates, 20e9);
  EXPECT_DOUBLE_EQ(a.cpu_joules.value(), 20);
  EXPECT_DOUBLE_EQ(a.cpu_peak_watts.value(), 15);
  EXPECT_DOUBLE_EQ(a.watts(*a.cpu_joules), 10);
  EXPECT_DOUBLE_EQ(a.joules_per_gigacell(*a.cpu_joules), 1);
  EXPECT_DOUBLE_EQ(a.gpu->joules.value(), 50);
  EXPECT_DOUBLE_EQ(a.gpu->average_watts.value(), 25); // of the counter, not of the readings
  EXPECT_DOUBLE_EQ(of("b").cpu_joules.value(), 4);
}

TEST_F(SummaryTest, ReadingsBelongToTheStretchTheyFellInto) {
  const RowTelemetry a = of("a");
  EXPECT_EQ(a.readings, 3);
  EXPECT_DOUBLE_EQ(a.cpu_mhz.value(), 3100);
  EXPECT_DOUBLE_EQ(a.gpu->peak_watts.value(), 90);
  EXPECT_DOUBLE_EQ(a.gpu->utilization_percent.value(), 10 * (0.5 + 5.25 + 5.75) / 3);
  EXPECT_EQ(of("b").readings, 2);
  EXPECT_DOUBLE_EQ(of("b").gpu->peak_watts.value(), 30);
}

TEST_F(SummaryTest, ThrottlingIsAShareOfTheReadings) {
  const RowTelemetry a = of("a");
  EXPECT_DOUBLE_EQ(a.gpu->throttled_seconds.value(), 2.0 * 2 / 3);
  EXPECT_THAT(a.gpu->throttle_reasons, ElementsAre("power cap", "thermal (hardware)"));
  EXPECT_DOUBLE_EQ(of("b").gpu->throttled_seconds.value(), 0);
}

TEST_F(SummaryTest, WithoutACounterPowerIsThatOfTheReadings) {
  stretches_[2].at_end.gpu_joules.reset();
  const RowTelemetry a = of("a");
  EXPECT_FALSE(a.gpu->joules);
  EXPECT_DOUBLE_EQ(a.gpu->average_watts.value(), 70);
  EXPECT_TRUE(of("b").gpu->joules);
}

TEST_F(SummaryTest, ACounterThatFailedOnceHasNoSum) {
  stretches_[0].at_begin.cpu.reset();
  EXPECT_FALSE(of("a").cpu_joules);
  EXPECT_FALSE(of("a").cpu_peak_watts);
  EXPECT_TRUE(of("b").cpu_joules);
}

TEST_F(SummaryTest, ARowOnTheCpuHasNoGpu) {
  EXPECT_FALSE(of("a", false).gpu);
  EXPECT_EQ(of("nobody").samples, 0);
  EXPECT_FALSE(of("nobody").cpu_mhz);
}

/// The observer, with the figures of a made-up machine and the card of fake_nvml.cpp.
class TelemetryTest : public testing::Test {
 protected:
  TelemetryTest() {
    FakeClock::seconds = 100;
    ::setenv("FAKE_NVML", "", 1);
    set_energy(0);
    result_ = sample_result();
    result_.rows[1].device = DeviceKind::cuda;
  }

  Telemetry::Setup setup(const std::string& nvml = FAKE_NVML_LIBRARY) const {
    // It reads once when timing begins, and then never again.
    return {.root = directory_.path(), .nvml = nvml, .period = std::chrono::hours(1), .now = [] {
              return FakeClock::seconds;
            }};
  }
  void set_energy(std::int64_t microjoules) const {
    const auto zone = directory_.path() / "sys/class/powercap/intel-rapl:0";
    std::filesystem::create_directories(zone);
    std::ofstream(zone / "name") << "package-0\n";
    std::ofstream(zone / "energy_uj") << microjoules << "\n";
    std::ofstream(zone / "max_energy_range_uj") << "1000000000\n";
  }
  void sample(Telemetry& telemetry, const std::string& row, double seconds,
              std::int64_t microjoules) const {
    const Observed run(telemetry,
                       {.kind = Span::Kind::run, .name = "sample", .row = row, .steps = 10});
    FakeClock::seconds += 1000; // the upload, which is not timed
    const Observed timed(telemetry, {.kind = Span::Kind::timed, .name = "steps", .steps = 10});
    FakeClock::seconds += seconds;
    set_energy(microjoules);
  }

  TemporaryDirectory directory_;
  ComparisonResult result_;
};

TEST_F(TelemetryTest, GoesToTheRowThatRan) {
  Telemetry telemetry(setup());
  {
    const Observed stage(telemetry, {.kind = Span::Kind::stage, .name = "timing"});
    sample(telemetry, "slow", 2, 6'000'000);
    sample(telemetry, "fast", 4, 10'000'000);
    sample(telemetry, "slow", 2, 20'000'000);
  }
  telemetry.report(result_);
  const RowTelemetry& slow = result_.rows[0].telemetry.value();
  EXPECT_DOUBLE_EQ(slow.seconds, 4);
  EXPECT_DOUBLE_EQ(slow.cell_updates, 2 * 10 * 1e6);
  EXPECT_DOUBLE_EQ(slow.cpu_joules.value(), 16);
  EXPECT_FALSE(slow.gpu); // it is a row of the CPU
  const RowTelemetry& fast = result_.rows[1].telemetry.value();
  EXPECT_DOUBLE_EQ(fast.cpu_joules.value(), 4);
  EXPECT_DOUBLE_EQ(fast.gpu->joules.value(), 2);
  EXPECT_FALSE(result_.find("wrong")->telemetry);
  EXPECT_FALSE(result_.find("absent")->telemetry);
}

TEST_F(TelemetryTest, SaysWhatIsNotThere) {
  std::filesystem::remove_all(directory_.path() / "sys");
  Telemetry telemetry(setup("no_such_library.so.1"));
  sample(telemetry, "slow", 2, 0);
  telemetry.report(result_);
  ASSERT_EQ(result_.telemetry->sources.size(), 3U);
  EXPECT_EQ(result_.telemetry->sources[2].name, "GPU");
  EXPECT_FALSE(result_.telemetry->sources[2].available);
  EXPECT_THAT(format_telemetry(result_), HasSubstr("GPU: not available: NVML: no_such_library"));
}

// A driver that answers some calls with errors costs those figures and a line, nothing else.
TEST_F(TelemetryTest, ACallThatFailsIsALine) {
  ::setenv("FAKE_NVML", "energy=3 temperature=15", 1);
  Telemetry telemetry(setup());
  sample(telemetry, "fast", 1, 1'000'000);
  telemetry.report(result_);
  const std::string text = format_telemetry(result_);
  EXPECT_THAT(text, HasSubstr("GPU energy counter: not available: Not Supported"));
  EXPECT_FALSE(result_.rows[1].telemetry->gpu->joules);
  EXPECT_FALSE(result_.rows[1].telemetry->gpu->celsius);
}

TEST_F(TelemetryTest, AThreadReadsWhileThereIsTiming) {
  Telemetry::Setup quick = setup();
  quick.period = std::chrono::milliseconds(1);
  quick.now = Telemetry::steady_seconds;
  Telemetry telemetry(quick);
  {
    const Observed stage(telemetry, {.kind = Span::Kind::stage, .name = "timing"});
    const Observed run(telemetry, {.kind = Span::Kind::run, .name = "sample", .row = "fast"});
    const Observed timed(telemetry, {.kind = Span::Kind::timed, .name = "steps", .steps = 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  telemetry.report(result_);
  const RowTelemetry& fast = result_.rows[1].telemetry.value();
  EXPECT_GE(fast.readings, 2);
  EXPECT_DOUBLE_EQ(fast.gpu->peak_watts.value(), 250.5);
  EXPECT_DOUBLE_EQ(fast.gpu->throttled_seconds.value(), fast.seconds);
}

RowTelemetry gpu_telemetry() {
  RowTelemetry row{.seconds = 2, .cell_updates = 4e9, .samples = 4, .readings = 9};
  row.cpu_joules = 30;
  row.cpu_mhz = 3000;
  row.gpu = RowTelemetry::Gpu{.joules = 500,
                              .average_watts = 250,
                              .peak_watts = 300,
                              .utilization_percent = 97,
                              .memory_bytes = 1 << 30,
                              .sm_mhz = 1980,
                              .memory_mhz = 2619,
                              .celsius = 60,
                              .throttled_seconds = 0.5,
                              .throttle_reasons = {"power cap"}};
  return row;
}

TEST(TelemetryReport, ShowsTheFiguresThatThereAre) {
  ComparisonResult result = sample_result();
  EXPECT_EQ(format_telemetry(result), "");
  result.telemetry = TelemetrySources{.period_seconds = 0.025, .sources = {}};
  result.rows[0].telemetry = RowTelemetry{.seconds = 1, .cell_updates = 1e9, .samples = 3};
  std::string text = format_telemetry(result);
  EXPECT_THAT(text, HasSubstr("slow       1.00 s         0\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU")));
  EXPECT_THAT(text, Not(HasSubstr("utilization")));
  result.rows[1].telemetry = gpu_telemetry();
  text = format_telemetry(result);
  EXPECT_THAT(text, testing::ContainsRegex(
                        "fast +2\\.00 s +9 +15\\.0 +7\\.50 +3\\.00 +250 +300 +125 +97 % +1980 +1 "
                        "GiB +60\\.0 +500 ms\n"));
  EXPECT_THAT(text, HasSubstr("throttled: fast: power cap\n"));
  EXPECT_THAT(text, HasSubstr("power draw shows that better"));
  EXPECT_THAT(text, Not(HasSubstr("are mixed")));
  result.rows[1].telemetry->samples = 40; // of 50 ms
  EXPECT_THAT(format_telemetry(result), HasSubstr("are mixed"));
}

TEST(TelemetryReport, JsonHasNullForWhatIsNotThere) {
  EXPECT_TRUE(telemetry_json(std::optional<RowTelemetry>()).is_null());
  EXPECT_TRUE(telemetry_json(std::optional<TelemetrySources>()).is_null());
  const auto json = json_of(telemetry_json(std::optional(gpu_telemetry())));
  EXPECT_DOUBLE_EQ(json["cpu"]["average_watts"], 15);
  EXPECT_TRUE(json["cpu"]["peak_watts"].is_null());
  EXPECT_DOUBLE_EQ(json["gpu"]["joules_per_1e9_cell_updates"], 125);
  EXPECT_TRUE(json_of(telemetry_json(std::optional(RowTelemetry{})))["gpu"].is_null());
}

} // namespace
} // namespace diffbench::bench
