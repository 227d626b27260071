// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include "build_info.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

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

/// Whether there are GPU backends and devices, and of these the names, by index, and versions.
Facts gpu_facts() {
  const auto none = [](const std::string& reason) -> Facts {
    return {
        {"cuda", reason}, {"gpu_name", "none"}, {"cuda_runtime", "none"}, {"cuda_driver", "none"}};
  };
  const auto backend = std::ranges::find_if(
      all_backends(), [](const BackendInfo& planned) { return planned.device != DeviceKind::cpu; });
  if (backend == all_backends().end()) {
    return none(fmt::format("not in this build: {}", how_to_get_gpu_backends()));
  }
  const std::string kind(to_string(backend->device));
  Probe probe = backend->probe(0);
  if (!probe.available) {
    return none(kind + ", not available: " + probe.reason);
  }
  const DeviceFacts first = probe.device.value();
  std::vector<std::string> names;
  while (probe.available) {
    names.push_back(probe.device.value().name);
    probe = backend->probe(static_cast<int>(names.size()));
  }
  return {{"cuda", kind + ", available"},
          {"gpu_name", fmt::format("{}", fmt::join(names, ", "))},
          {"cuda_runtime", first.runtime},
          {"cuda_driver", first.driver}};
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

std::string_view fact(const Facts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Facts::value_type::first);
  return found == facts.end() ? std::string_view() : found->second;
}

std::string_view how_to_get_gpu_backends() {
  const auto missing = std::ranges::find(missing_backends(), "cuda", &NotCompiled::name);
  return missing == missing_backends().end() ? "" : missing->how_to_get;
}

std::string system_value(const std::filesystem::path& root, const std::filesystem::path& path) {
  std::ifstream file(root / path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : "unknown";
}

std::string format_bytes(double bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = bytes;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

Facts run_context(const std::filesystem::path& root) {
  const Caches caches = read_caches(root);
  Facts facts{
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
  };
  std::ranges::move(gpu_facts(), std::back_inserter(facts));
  return facts;
}

} // namespace diffbench::bench
