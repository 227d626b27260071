// SPDX-License-Identifier: Apache-2.0
#include "cpu_meters.hpp"

#include <fmt/format.h>

#include <sched.h>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

/// Reading the clock of a CPU may wake it: more than so many would disturb what is measured.
constexpr std::size_t most_clocks = 16;

std::optional<std::int64_t> read_integer(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::string read_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// The highest "cpu MHz" of /proc/cpuinfo.
std::optional<double> highest_in(const fs::path& cpuinfo) {
  std::ifstream file(cpuinfo);
  std::optional<double> highest;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("cpu MHz")) {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos) {
        highest = std::max(highest.value_or(0), std::strtod(line.c_str() + colon + 1, nullptr));
      }
    }
  }
  return highest;
}

} // namespace

CpuEnergy::CpuEnergy(const fs::path& root) {
  const fs::path powercap = root / "sys/class/powercap";
  std::error_code error;
  std::vector<fs::path> directories;
  for (const fs::directory_entry& entry : fs::directory_iterator(powercap, error)) {
    // intel-rapl:0 is a package, intel-rapl:0:1 a part of it; intel-rapl-mmio shows the same again.
    if (entry.path().filename().string().starts_with("intel-rapl:")) {
      directories.push_back(entry.path());
    }
  }
  std::ranges::sort(directories);
  for (const fs::path& directory : directories) {
    const std::string name = read_word(directory / "name");
    const bool dram = name == "dram";
    if (!dram && !name.starts_with("package")) {
      continue; // parts of packages, or the whole platform
    }
    errno = 0;
    if (!read_integer(directory / "energy_uj")) {
      why_not_ = fmt::format(
          "{} cannot be read ({}); on most systems only root may: "
          "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj",
          (directory / "energy_uj").string(),
          errno != 0 ? std::generic_category().message(errno) : "not a number");
      return;
    }
    zones_.push_back({.counter = directory / "energy_uj",
                      .dram = dram,
                      .range = read_integer(directory / "max_energy_range_uj").value_or(0)});
  }
  if (std::ranges::none_of(zones_, [](const Zone& zone) { return !zone.dram; })) {
    why_not_ = fmt::format(
        "no energy counter of a processor in {} (virtual machines and older CPUs have none)",
        powercap.string());
  }
}

std::optional<CpuEnergy::Joules> CpuEnergy::read() {
  if (!why_not_.empty()) {
    return std::nullopt;
  }
  Joules sum;
  for (Zone& zone : zones_) {
    const std::optional<std::int64_t> now = read_integer(zone.counter);
    if (!now) {
      return std::nullopt;
    }
    std::int64_t risen = *now - zone.last.value_or(*now);
    if (risen < 0) {
      risen += zone.range;
    }
    zone.last = now;
    zone.joules += 1e-6 * static_cast<double>(risen);
    if (zone.dram) {
      sum.dram = sum.dram.value_or(0) + zone.joules;
    } else {
      sum.packages += zone.joules;
    }
  }
  return sum;
}

CpuClock::CpuClock(const fs::path& root, const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    const fs::path file =
        root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu);
    if (files_.size() < most_clocks && read_integer(file)) {
      files_.push_back(file);
    }
  }
  if (!files_.empty()) {
    detail_ = "cpufreq, the fastest CPU";
  } else if (highest_in(root / "proc/cpuinfo")) {
    cpuinfo_ = root / "proc/cpuinfo";
    detail_ = "/proc/cpuinfo, the fastest CPU; on a virtual machine mostly a fixed nominal value";
  } else {
    detail_ = "neither cpufreq nor /proc/cpuinfo reports the clock";
  }
}

std::optional<double> CpuClock::mhz() const {
  if (!cpuinfo_.empty()) {
    return highest_in(cpuinfo_);
  }
  std::optional<double> highest;
  for (const fs::path& file : files_) {
    if (const auto kilohertz = read_integer(file)) {
      highest = std::max(highest.value_or(0), 1e-3 * static_cast<double>(*kilohertz));
    }
  }
  return highest;
}

std::vector<int> CpuClock::allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

} // namespace diffbench::bench
