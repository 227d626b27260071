// SPDX-License-Identifier: Apache-2.0
// Compiled for the x86-64 baseline (BuildInfo.cmake). It calls nothing but C functions: an inline
// function of the standard library might be linked from a file compiled for more than the CPU has.
#include "cpu_guard.hpp"

#include "context.hpp"

#include <unistd.h>
#include <cstdio>

namespace diffbench::bench {

const char* describe_mismatch(const bool* compiled, const bool* cpu) noexcept {
#define DIFFBENCH_NAME(name, macro) name,
  static const char* const names[] = {DIFFBENCH_ISA_EXTENSIONS(DIFFBENCH_NAME)};
  for (int i = 0; i < isa_extension_count; ++i) {
    if (compiled[i] && !cpu[i]) {
      static char line[200];
      std::snprintf(
          line, sizeof line,
          "this program was compiled for a CPU with %s, which this CPU lacks: build it on "
          "this machine, or configure with -DDIFFBENCH_ARCH=x86-64",
          names[i]);
      return line;
    }
  }
  return nullptr;
}

const char* build_cpu_mismatch() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define DIFFBENCH_CPU_HAS(name, macro) __builtin_cpu_supports(name) != 0,
  const bool cpu[] = {DIFFBENCH_ISA_EXTENSIONS(DIFFBENCH_CPU_HAS)};
  return describe_mismatch(compiled_for, cpu);
#else
  return nullptr;
#endif
}

namespace {

// Priority 101 is the first that programs may use: before the constructors of C++ statics, which
// are compiled for the CPU in question.
[[gnu::constructor(101)]] void end_on_mismatch() {
  const char* mismatch = build_cpu_mismatch();
  if (mismatch != nullptr) {
    dprintf(STDERR_FILENO, "diffbench: %s\n", mismatch);
    _exit(1);
  }
}

} // namespace

} // namespace diffbench::bench
