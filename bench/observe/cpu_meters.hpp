// SPDX-License-Identifier: Apache-2.0
// The processor's energy counters and clock, as Linux shows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// The counters of the powercap framework (kernel documentation, power/powercap; Intel calls them
/// RAPL, AMD's appear under the same name). Packages hold cores and caches; memory is apart.
class CpuEnergy {
 public:
  struct Joules {
    double packages = 0;
    std::optional<double> dram;
  };

  /// `root` stands for the file system's root.
  explicit CpuEnergy(const std::filesystem::path& root = "/");

  /// Empty when it can be read.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Energy since the first read. Follows counters that wrap around, if it is called before one
  /// does so twice (minutes). Empty when a counter can no longer be read.
  [[nodiscard]] std::optional<Joules> read();

 private:
  struct Zone {
    std::filesystem::path counter;
    bool dram = false;
    std::int64_t range = 0; ///< microjoules after which it begins anew
    std::optional<std::int64_t> last = {};
    double joules = 0;
  };

  std::vector<Zone> zones_;
  std::string why_not_;
};

/// The clock of the fastest CPU that this process may use: that of one which works.
class CpuClock {
 public:
  explicit CpuClock(const std::filesystem::path& root = "/",
                    const std::vector<int>& cpus = allowed_cpus());

  [[nodiscard]] std::optional<double> mhz() const;
  /// Where it is read, or why it cannot be.
  [[nodiscard]] const std::string& detail() const { return detail_; }
  /// The CPUs of the affinity mask.
  [[nodiscard]] static std::vector<int> allowed_cpus();

 private:
  std::vector<std::filesystem::path> files_; ///< of cpufreq
  std::filesystem::path cpuinfo_;            ///< empty: not used
  std::string detail_;
};

} // namespace diffbench::bench
