// SPDX-License-Identifier: Apache-2.0
// What the machine offers to this process: instruction sets, caches, CPUs, memory. Linux.
#pragma once

#include "diffbench/name_table.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench {

/// Instruction sets that kernels are compiled for, in ascending order.
enum class Isa {
  baseline, ///< what the build itself assumes: SSE2 on x86-64, NEON on 64-bit Arm
  avx2,     ///< 256-bit vectors and FMA
  avx512,   ///< 512-bit vectors (F, VL, DQ, BW)
};

inline constexpr NameTable<Isa, 3> isa_names{
    "instruction set",
    {{{Isa::baseline, "baseline"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}}}};
[[nodiscard]] constexpr std::string_view to_string(Isa isa) { return isa_names.name(isa); }

/// The best instruction set of this CPU.
[[nodiscard]] Isa best_isa();

/// Data cache sizes in bytes as seen by CPU 0; a typical value stands in for one that the system
/// does not tell. l3 is what all CPUs share.
struct Caches {
  std::int64_t l1d = 32 << 10;
  std::int64_t l2 = 512 << 10;
  std::int64_t l3 = 16 << 20;
};

// `root` stands for the file system's root, so that tests can present another machine.
[[nodiscard]] Caches read_caches(const std::filesystem::path& root = "/");
/// The numbers of the CPUs that the calling thread may run on, ascending; empty when the system
/// does not tell.
[[nodiscard]] std::vector<int> affinity();
/// The CPUs that this process may use: its affinity mask, cut down to the cgroup's quota (v1 or
/// v2, rounded up), at least 1. Not the number that the machine has.
[[nodiscard]] int usable_cpus(const std::filesystem::path& root = "/");
/// How many CPUs' time the cgroup's quota grants, 1.5 for example; infinity without a quota. With
/// more busy threads than that, all of them are stopped for a part of each period.
[[nodiscard]] double cpu_quota(const std::filesystem::path& root = "/");
/// Bytes that can still be allocated without swapping: MemAvailable, cut down to what the cgroup's
/// limit leaves; without /proc, what is free and in buffers (sysinfo(2)).
[[nodiscard]] std::int64_t available_memory(const std::filesystem::path& root = "/");
/// This program's file: absolute; without /proc by the name that it was started with.
[[nodiscard]] std::filesystem::path program_path();
/// As the kernel names it, or on 64-bit Arm, where it has only numbers, the core that they stand
/// for, or the numbers; "unknown CPU" when the system does not tell.
[[nodiscard]] std::string cpu_model(const std::filesystem::path& root = "/");

/// The numbers by which makers tell their cores apart: on x86-64 vendor ("AuthenticAMD"), family
/// and model, on 64-bit Arm the implementer ("0x41") and the part as model. 0 where not told.
struct CpuNumbers {
  std::string vendor;
  int family = 0;
  int model = 0;
};
[[nodiscard]] CpuNumbers cpu_numbers(const std::filesystem::path& root = "/");

} // namespace diffbench
