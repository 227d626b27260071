// SPDX-License-Identifier: Apache-2.0
// Sources: sched_getaffinity(2), cgroups(7), the kernel's admin-guide for cgroup v1 and v2, and
// Documentation/ABI/testing/sysfs-devices-system-cpu. What is missing or unreadable never is an
// error here: containers hide much of it.
#include "diffbench/machine.hpp"

#include "diffbench/known_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/auxv.h>
#include <sys/sysinfo.h>

namespace diffbench {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The number at the start of `text`; nothing when there is none ("max", an absent file's "").
std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> number_in(const fs::path& path) {
  return leading_number(first_line(path));
}

// What follows `key` on its line of a file such as /proc/meminfo or memory.stat.
std::optional<std::string> value_of(const fs::path& path, std::string_view key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) {
      return line.substr(key.size());
    }
  }
  return std::nullopt;
}

// The value of a key of /proc/cpuinfo, "key\t: value"; empty when there is none.
std::string cpu_fact(const fs::path& root, std::string_view key) {
  const std::string text = value_of(root / "proc/cpuinfo", key).value_or("");
  const std::size_t start = text.find_first_not_of("\t :");
  return start == text.npos ? "" : text.substr(start);
}

// Implementer and part, as Linux writes them, of the cores of servers and of small computers. From
// the cores' reference manuals (MIDR_EL1).
struct ArmCore {
  std::string_view numbers;
  std::string_view name;
};
constexpr ArmCore arm_cores[] = {
    {"0x41 0xd03", "Arm Cortex-A53"},  {"0x41 0xd05", "Arm Cortex-A55"},
    {"0x41 0xd07", "Arm Cortex-A57"},  {"0x41 0xd08", "Arm Cortex-A72"},
    {"0x41 0xd0b", "Arm Cortex-A76"},  {"0x41 0xd0c", "Arm Neoverse N1"},
    {"0x41 0xd40", "Arm Neoverse V1"}, {"0x41 0xd49", "Arm Neoverse N2"},
    {"0x41 0xd4f", "Arm Neoverse V2"},
};

// "48K", "32768K", "1M" as sysfs writes cache sizes.
std::optional<std::int64_t> size_in(const fs::path& path) {
  const std::string line = first_line(path);
  const std::optional<std::int64_t> number = leading_number(line);
  if (!number || *number <= 0 || *number > 1 << 30) {
    return std::nullopt;
  }
  const int shift = line.ends_with('K') ? 10 : line.ends_with('M') ? 20 : 0;
  return *number << shift;
}

// The directories of the process's cgroup and all its parents, in the hierarchy of v2 and in that
// of one v1 controller. A limit anywhere on the way holds. A container may see the host's path here
// and only its own cgroup mounted: then the deep directories do not exist and the mount itself, the
// last one, is read.
struct CgroupDirectories {
  std::vector<fs::path> v1;
  std::vector<fs::path> v2;
};

void append_with_parents(const fs::path& mount, std::string_view cgroup,
                         std::vector<fs::path>& directories) {
  for (fs::path inner = fs::path(cgroup).relative_path(); !inner.empty();
       inner = inner.parent_path()) {
    directories.push_back(mount / inner);
  }
  directories.push_back(mount);
}

CgroupDirectories cgroup_directories(const fs::path& root, std::string_view controller) {
  CgroupDirectories directories;
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream stream(root / "proc/self/cgroup");
  // Lines are hierarchy:controllers:path; v2 is hierarchy 0 and names no controllers.
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string cgroup = line.substr(second + 1);
    if (controllers == ",,") {
      append_with_parents(mount, cgroup, directories.v2);
    } else if (controllers.find("," + std::string(controller) + ",") != std::string::npos) {
      append_with_parents(mount / controller, cgroup, directories.v1);
    }
  }
  return directories;
}

double cpus_of(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  // v1 writes -1 for no quota, v2 "max", which is no number.
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// What the limit of one cgroup leaves. Cached files count as used there, but the kernel drops the
// inactive ones before it refuses memory, so they are free for us (as in MemAvailable).
std::int64_t left_by(std::optional<std::int64_t> limit, std::optional<std::int64_t> used,
                     const std::optional<std::string>& inactive_file) {
  if (!limit || !used || *limit < 0 || *used < 0) {
    return unlimited;
  }
  const std::int64_t cached =
      std::clamp<std::int64_t>(leading_number(inactive_file.value_or("")).value_or(0), 0, *used);
  return std::max<std::int64_t>(*limit - (*used - cached), 0);
}

std::int64_t cgroup_memory(const fs::path& root) {
  const CgroupDirectories directories = cgroup_directories(root, "memory");
  std::int64_t left = unlimited;
  for (const fs::path& directory : directories.v2) {
    left = std::min(
        left, left_by(number_in(directory / "memory.max"), number_in(directory / "memory.current"),
                      value_of(directory / "memory.stat", "inactive_file ")));
  }
  // No limit reads here as about 2^63, which leaves more than any machine has.
  for (const fs::path& directory : directories.v1) {
    left = std::min(left, left_by(number_in(directory / "memory.limit_in_bytes"),
                                  number_in(directory / "memory.usage_in_bytes"),
                                  value_of(directory / "memory.stat", "total_inactive_file ")));
  }
  return left;
}

} // namespace

Isa best_isa() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return Isa::avx512;
  }
  if (avx2) {
    return Isa::avx2;
  }
#endif
  return Isa::baseline;
}

Caches read_caches(const fs::path& root) {
  Caches caches;
  const fs::path base = root / "sys/devices/system/cpu/cpu0/cache";
  for (int index = 0;; ++index) {
    const fs::path directory = base / ("index" + std::to_string(index));
    const std::optional<std::int64_t> level = number_in(directory / "level");
    if (!level) {
      return caches;
    }
    const std::optional<std::int64_t> size = size_in(directory / "size");
    if (!size || first_line(directory / "type") == "Instruction") {
      continue;
    }
    switch (*level) {
      case 1: caches.l1d = *size; break;
      case 2: caches.l2 = *size; break;
      case 3: caches.l3 = *size; break;
      default: break;
    }
  }
}

double cpu_quota(const fs::path& root) {
  const CgroupDirectories directories = cgroup_directories(root, "cpu");
  double cpus = std::numeric_limits<double>::infinity();
  for (const fs::path& directory : directories.v2) {
    const std::string line = first_line(directory / "cpu.max"); // "QUOTA PERIOD"
    const std::size_t space = std::min(line.find(' '), line.size());
    cpus = std::min(cpus, cpus_of(leading_number(line), leading_number(line.substr(space))));
  }
  for (const fs::path& directory : directories.v1) {
    cpus = std::min(cpus, cpus_of(number_in(directory / "cpu.cfs_quota_us"),
                                  number_in(directory / "cpu.cfs_period_us")));
  }
  return cpus;
}

std::vector<int> affinity() {
  // The kernel refuses (EINVAL) a set smaller than its own, which may exceed CPU_SETSIZE.
  for (std::size_t most = CPU_SETSIZE; most <= std::size_t{1} << 20; most *= 2) {
    std::vector<cpu_set_t> set(most / CPU_SETSIZE);
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < most; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set.data())) {
          cpus.push_back(static_cast<int>(cpu));
        }
      }
      return cpus;
    }
  }
  return {};
}

int usable_cpus(const fs::path& root) {
  const std::size_t allowed = affinity().size();
  const double cpus =
      std::min(allowed > 0 ? static_cast<double>(allowed) : std::thread::hardware_concurrency(),
               std::ceil(cpu_quota(root)));
  return std::max(static_cast<int>(cpus), 1);
}

std::int64_t available_memory(const fs::path& root) {
  std::int64_t free = unlimited;
  const std::string kilobytes = value_of(root / "proc/meminfo", "MemAvailable:").value_or("");
  if (const std::optional<std::int64_t> number = leading_number(kilobytes);
      number && *number >= 0 && *number <= unlimited / 1024) {
    free = *number * 1024;
  } else if (struct sysinfo told{}; sysinfo(&told) == 0) {
    free = static_cast<std::int64_t>((told.freeram + told.bufferram) * told.mem_unit);
  }
  return std::min(free, cgroup_memory(root));
}

fs::path program_path() {
  std::error_code none;
  const fs::path path = fs::read_symlink("/proc/self/exe", none);
  return path.empty() ? fs::absolute(reinterpret_cast<const char*>(getauxval(AT_EXECFN))) : path;
}

std::string cpu_model(const fs::path& root) {
  if (const std::string name = cpu_fact(root, "model name"); !name.empty()) {
    return name;
  }
  // Linux on 64-bit Arm tells only the numbers of MIDR_EL1; they tell one model from another.
  const std::string implementer = cpu_fact(root, "CPU implementer");
  const std::string part = cpu_fact(root, "CPU part");
  if (implementer.empty() || part.empty()) {
    return "unknown CPU";
  }
  const auto core = std::ranges::find(arm_cores, implementer + " " + part, &ArmCore::numbers);
  return (core != std::end(arm_cores) ? std::string(core->name)
                                      : "Arm CPU, implementer " + implementer + ", part " + part) +
         ", variant " + cpu_fact(root, "CPU variant");
}

CpuNumbers cpu_numbers(const fs::path& root) {
  const auto number = [&](std::string_view key) {
    return static_cast<int>(std::strtol(cpu_fact(root, key).c_str(), nullptr, 0));
  };
  if (const std::string vendor = cpu_fact(root, "vendor_id"); !vendor.empty()) {
    return {vendor, number("cpu family"), number("model")};
  }
  return {cpu_fact(root, "CPU implementer"), 0, number("CPU part")};
}

} // namespace diffbench
