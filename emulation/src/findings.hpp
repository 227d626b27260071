// SPDX-License-Identifier: Apache-2.0
// What the emulation finds wrong in the code that it runs: a kind, where, and a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace diffbench::emulation {

enum class FindingKind {
  race,
  divergence,
  out_of_bounds,
  use_after_free,
  uninitialized,
  early_read, ///< of a result that is not there yet, or a source overwritten before it was copied
  copy_direction,
  copy_size,
  launch_refused,
  unchecked_error,
  leak,
  host_touches_device,
  device_touches_host,
  kernel_fault, ///< a trap, an assertion, an exception, a stack that overflows
  misuse,       ///< of the runtime's calls
  host_crash,   ///< in code of the host's, of a program
  stopwatch,    ///< what a program times is not what it is taken for
};

/// A line of the code; line 0: not known.
struct CodeLine {
  std::string file = {};
  int line = 0;
  bool operator==(const CodeLine&) const = default;
};

/// A thread of a kernel.
struct KernelThread {
  std::string kernel;
  uint3 block{}, thread{};
};

struct Finding {
  FindingKind kind = FindingKind::misuse;
  std::string message = {}; ///< without what precedes it in a report, "kernel step: "
  CodeLine at = {};
  std::optional<KernelThread> by = {};
  CodeLine other = {};    ///< the second one of a race, or where the others wait
  bool unwritten = false; ///< a read of what nobody has written: it counts where it is used
};

/// "(1,2,0)"
[[nodiscard]] std::string triple(uint3 v);

/// {"kind": "race", "message": ..., "file", "line", "kernel", "block", "thread", "other_file",
/// "other_line", "unwritten", "affects_result"}: those from "file" to "other_line" as far as they
/// are known.
[[nodiscard]] std::string json_of(const Finding& finding);
/// A text as JSON has it, with its quotes.
[[nodiscard]] std::string json_text(const std::string& text);

} // namespace diffbench::emulation
