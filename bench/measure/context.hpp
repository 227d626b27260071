// SPDX-License-Identifier: Apache-2.0
// Facts about the build and the machine, as text: the context of a result file, and the material of
// `diffbench doctor`.
#pragma once

#include <concepts>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// Name and value, in the order in which they are shown.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The value of that name; empty without one.
[[nodiscard]] std::string_view fact(const Facts& facts, std::string_view name);

/// diffbench_version, git_sha, compiler, flags, build_type, arch, cpu_model, isa, usable_cpus,
/// cache_l1d, cache_l2, cache_l3, governor, memory_available, os, kernel, cuda, gpu_name (of
/// all devices that can be used, by index), cuda_runtime, cuda_driver. Reads a few small files
/// under `root`; what the system does not tell is "unknown".
[[nodiscard]] Facts run_context(const std::filesystem::path& root = "/");

/// What brings the GPU backends that this build left out; empty where it has them.
[[nodiscard]] std::string_view how_to_get_gpu_backends();

/// The first line of the file `path` below `root`, "unknown" when there is none.
[[nodiscard]] std::string system_value(const std::filesystem::path& root,
                                       const std::filesystem::path& path);

/// Bytes in binary units with at most three digits before the unit: "48 KiB", "7.6 GiB".
[[nodiscard]] std::string format_bytes(double bytes);
template <std::integral Integer>
[[nodiscard]] std::string format_bytes(Integer bytes) {
  return format_bytes(static_cast<double>(bytes));
}

/// The first instruction set extension that this program was compiled for and this CPU lacks, as a
/// whole line with the remedy; nullptr when the CPU has them all. A start-up check (cpu_guard.cpp)
/// has then already ended the program with that line, before any constructor could crash on it.
[[nodiscard]] const char* build_cpu_mismatch() noexcept;

} // namespace diffbench::bench
