// SPDX-License-Identifier: Apache-2.0
// --telemetry: energy, power, clocks and utilization of each row while it is timed.
//
// Rows take turns in the rounds, so everything is attributed by time. Energy counters are read
// right before and right after what the clock of a sample measures. A thread reads clocks, power
// and the like every few milliseconds while there is timing, and each reading belongs to the row in
// whose timed stretch it began.
#pragma once

#include "cpu_meters.hpp"
#include "gpu_meter.hpp"
#include "observer.hpp"
#include "row_telemetry.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace diffbench::bench {

/// All counters at one moment.
struct Counters {
  std::optional<CpuEnergy::Joules> cpu;
  std::optional<double> gpu_joules;
};

/// What the clock of one sample measured.
struct TimedStretch {
  std::string row;
  std::int64_t steps = 0;
  double begin = 0; ///< seconds of the observer's clock
  double end = 0;
  Counters at_begin = {};
  Counters at_end = {};
};

struct TelemetryReading {
  double time = 0; ///< when it began
  std::optional<double> cpu_mhz = {};
  std::optional<GpuReading> gpu = {};
};

/// Of the stretches of one row. `on_gpu`: what the card did is the row's.
[[nodiscard]] RowTelemetry summarize_telemetry(std::span<const TimedStretch> stretches,
                                               std::span<const TelemetryReading> readings,
                                               const std::string& row, double cells, bool on_gpu);

class Telemetry final : public Observer {
 public:
  struct Setup {
    std::filesystem::path root = "/"; ///< of the file system
    std::string nvml = nvml_library();
    int device = 0;
    std::chrono::milliseconds period{25};
    std::function<double()> now = steady_seconds; ///< called by two threads
  };

  explicit Telemetry(Setup setup);
  ~Telemetry() override { stop(); }

  void begin(const Span& span) override;
  void end(const PhaseTimes* account) override;

  /// Adds its telemetry to every row with a time, and what could be read to the result.
  void report(ComparisonResult& result);

  [[nodiscard]] static double steady_seconds();

 private:
  void start();
  void stop();
  void take_reading();
  [[nodiscard]] Counters read_counters();
  [[nodiscard]] TelemetrySources sources() const;

  Setup setup_;
  CpuClock cpu_clock_;
  std::unique_ptr<GpuMeter> gpu_;
  std::string why_no_gpu_;

  std::mutex mutex_; ///< of those that follow, up to the thread
  CpuEnergy cpu_energy_;
  std::vector<TelemetryReading> readings_;
  std::condition_variable_any wake_;
  std::jthread thread_;

  // Of the measuring thread alone.
  std::vector<Span::Kind> open_;
  std::string row_;
  std::vector<TimedStretch> stretches_;
};

} // namespace diffbench::bench
