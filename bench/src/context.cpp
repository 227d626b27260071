#include "context.hpp"

#include "build_info.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>

namespace diffbench::bench {

namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string gpu_backends() {
  for (const BackendInfo& backend : all_backends()) {
    if (backend.device != DeviceKind::cpu) {
      const Probe probe = backend.probe(0);
      return std::string(to_string(backend.device)) +
             (probe.available ? ", available" : ", not available: " + probe.reason);
    }
  }
  return "not in this build";
}

// os-release(5): shell assignments, the value mostly in double quotes.
std::string operating_system(const std::filesystem::path& root) {
  constexpr std::string_view key = "PRETTY_NAME=";
  std::ifstream file(root / "etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      std::string name = line.substr(key.size());
      std::erase(name, '"');
      return name;
    }
  }
  return "unknown";
}

} // namespace

std::string system_value(const std::filesystem::path& root, const std::filesystem::path& path) {
  std::ifstream file(root / path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : "unknown";
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

Facts run_context(const std::filesystem::path& root) {
  const Caches caches = read_caches(root);
  return {
      {"diffbench_version", build_info::version},
      {"git_sha", build_info::git_sha},
      {"compiler", compiler()},
      {"flags", build_info::flags},
      {"build_type", build_info::build_type},
      {"arch", build_info::arch},
      {"cpu_model", cpu_model(root)},
      {"isa", std::string(to_string(best_isa()))},
      {"usable_cpus", std::to_string(usable_cpus(root))},
      {"cache_l1d", format_bytes(caches.l1d)},
      {"cache_l2", format_bytes(caches.l2)},
      {"cache_l3", format_bytes(caches.l3)},
      {"governor", system_value(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
      {"memory_available", format_bytes(available_memory(root))},
      {"os", operating_system(root)},
      {"kernel", system_value(root, "proc/sys/kernel/osrelease")},
      {"cuda", gpu_backends()},
  };
}

} // namespace diffbench::bench
