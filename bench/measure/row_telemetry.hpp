// SPDX-License-Identifier: Apache-2.0
// What --telemetry found for a row: plain data, over the timed stretches of all its samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Empty: could not be read, or no reading fell into a timed stretch.
struct RowTelemetry {
  struct Gpu {
    std::optional<double> joules; ///< by the card's counter
    std::optional<double> average_watts;
    std::optional<double> peak_watts;          ///< highest reading
    std::optional<double> utilization_percent; ///< share of time with at least one kernel running
    std::optional<double> memory_bytes;        ///< most, of all programs on the card
    std::optional<double> sm_mhz;
    std::optional<double> memory_mhz;
    std::optional<double> celsius; ///< highest
    std::optional<double> throttled_seconds;
    std::vector<std::string> throttle_reasons;
  };

  double seconds = 0;
  double cell_updates = 0;
  int samples = 0;
  int readings = 0;                      ///< of clocks, power and the like while samples were timed
  std::optional<double> cpu_joules = {}; ///< of all processor packages
  std::optional<double> cpu_peak_watts = {}; ///< highest of a sample
  std::optional<double> dram_joules = {};
  std::optional<double> cpu_mhz = {}; ///< mean clock of the fastest CPU
  std::optional<Gpu> gpu = {};        ///< of a row on a GPU

  /// For the energy `joules`.
  [[nodiscard]] double watts(double joules) const { return joules / seconds; }
  [[nodiscard]] double joules_per_gigacell(double joules) const {
    return joules / (1e-9 * cell_updates);
  }
};

/// Something that can be read, or why it cannot.
struct TelemetrySource {
  std::string name;
  bool available = false;
  std::string detail; ///< where it comes from, or the reason
};

/// What holds for all rows.
struct TelemetrySources {
  double period_seconds = 0;
  std::vector<TelemetrySource> sources = {};
};

} // namespace diffbench::bench
