// SPDX-License-Identifier: Apache-2.0
// A whole CUDA program, tried: compiled as it is, and run once on the emulated device. Nobody knows
// what it should compute, so the verdict is on its faults.
#pragma once

#include "asked_of_card.hpp"
#include "device_findings.hpp"
#include "diffbench/name_table.hpp"
#include "lab_report.hpp"
#include "progress.hpp"
#include "trial.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

enum class ProgramVerdict { no_fault, faults, undecided };
inline constexpr NameTable<ProgramVerdict, 3> program_verdict_names{
    "verdict",
    {{{ProgramVerdict::no_fault, "no fault found"},
      {ProgramVerdict::faults, "faults"},
      {ProgramVerdict::undecided, "not decided"}}}};
[[nodiscard]] constexpr std::string_view to_string(ProgramVerdict verdict) {
  return program_verdict_names.name(verdict);
}

/// In the place of a Form, where forms have names.
inline constexpr std::string_view program_form = "program";

struct TriedProgram {
  std::vector<std::filesystem::path> files; ///< the one after which it is called first
  std::vector<std::string> arguments = {};
  double seconds = 60;    ///< that it may run
  std::string input = {}; ///< file for stdin; empty: ours
};

/// What is known of a kernel's launches.
struct LaunchedKernel {
  std::string name;
  std::int64_t launches = 0;
  std::int64_t threads = 0; ///< of all launches
  double watched = 0;       ///< the share of these whose accesses were looked at
};

struct ProgramTrial {
  std::string file, command;
  ProgramVerdict verdict = ProgramVerdict::undecided;
  std::string why; ///< it is not decided; or what ended it
  std::vector<DeviceFinding> findings;
  std::vector<LaunchedKernel> kernels;
  std::optional<AskedOfCard> asked; ///< priced for an assumed card
  Value counts;           ///< what it has asked the device for; null where it said nothing
  int status = 0;         ///< with which it ended; 128 + n after signal n
  bool by_itself = false; ///< it ended, and not its time
  double seconds = 0;     ///< that the run took here
  /// By the copy's line, a sum of what it gave the host; empty: none that tells.
  std::map<std::string, std::uint64_t> copied = {};
  bool uses_atomics = false;
  bool uses_managed = false;   ///< memory, which the host reads without a copy
  std::string printed;         ///< the last lines
  std::size_t printed_sum = 0; ///< of all of it
  std::string unprotected;     ///< what it is not kept from
};

/// Throws what compile_emulated_program() throws, Error, and Interrupted.
[[nodiscard]] ProgramTrial try_program(const TriedProgram& plan, const TrialPlan& trial,
                                       const std::filesystem::path& work_dir, Progress& progress);

/// "2 faults", "not decided: no kernel ran"
[[nodiscard]] std::string verdict_line(const ProgramTrial& trial);
[[nodiscard]] LabReport program_report(const ProgramTrial& trial);

} // namespace diffbench::bench
