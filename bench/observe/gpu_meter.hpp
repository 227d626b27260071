// SPDX-License-Identifier: Apache-2.0
// What an NVIDIA card tells of itself, through NVML (NVIDIA's management library, part of the
// driver). The library is looked for at run time: a build needs nothing of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Each empty where the card does not tell.
struct GpuReading {
  std::optional<double> watts; ///< on recent cards an average of up to a second
  std::optional<double> utilization_percent;
  std::optional<double> memory_bytes;
  std::optional<double> sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> celsius;
  std::optional<std::uint64_t> throttle_reasons; ///< bits
};

/// The reasons among `bits` that lower the clock against what the card could do: not that it is
/// idle, nor what the user has set.
[[nodiscard]] std::vector<std::string> throttle_reasons(std::uint64_t bits);

/// libnvidia-ml.so.1, or what the variable DIFFBENCH_NVML names.
[[nodiscard]] std::string nvml_library();

/// One card. Calls may come from several threads, and never throw: what fails is empty, and
/// failures() says why.
class GpuMeter {
 public:
  /// The card that CUDA calls `device` in this process, found by its PCI bus id. `library` is NVML.
  /// Throws Unavailable: no library, no such card, or in NVML's words.
  GpuMeter(const std::string& library, int device);
  GpuMeter(const GpuMeter&) = delete;
  GpuMeter& operator=(const GpuMeter&) = delete;
  ~GpuMeter();

  [[nodiscard]] GpuReading read();
  /// Energy since the driver was loaded, by the card's own counter.
  [[nodiscard]] std::optional<double> joules();
  /// Name, and generation and width of the link now and at most.
  [[nodiscard]] std::string description();
  /// What could not be read, and the first reason.
  [[nodiscard]] std::map<std::string, std::string> failures() const;

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;
};

} // namespace diffbench::bench
