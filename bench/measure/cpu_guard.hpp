// SPDX-License-Identifier: Apache-2.0
// Refuses to run a program that was compiled for another CPU, with a clear line instead of SIGILL.
// Split over two files on purpose: build_isa.cpp is compiled like the rest of the program and holds
// data only, cpu_guard.cpp holds the code and is compiled for the x86-64 baseline.
#pragma once

// Name for __builtin_cpu_supports, and the macro that GCC and Clang define when they may use it.
#define DIFFBENCH_ISA_EXTENSIONS(X)         \
  X("sse3", __SSE3__)                       \
  X("ssse3", __SSSE3__)                     \
  X("sse4.1", __SSE4_1__)                   \
  X("sse4.2", __SSE4_2__)                   \
  X("popcnt", __POPCNT__)                   \
  X("avx", __AVX__)                         \
  X("fma", __FMA__)                         \
  X("bmi", __BMI__)                         \
  X("bmi2", __BMI2__)                       \
  X("avx2", __AVX2__)                       \
  X("avx512f", __AVX512F__)                 \
  X("avx512dq", __AVX512DQ__)               \
  X("avx512cd", __AVX512CD__)               \
  X("avx512bw", __AVX512BW__)               \
  X("avx512vl", __AVX512VL__)               \
  X("avx512ifma", __AVX512IFMA__)           \
  X("avx512vbmi", __AVX512VBMI__)           \
  X("avx512vbmi2", __AVX512VBMI2__)         \
  X("avx512vnni", __AVX512VNNI__)           \
  X("avx512bitalg", __AVX512BITALG__)       \
  X("avx512vpopcntdq", __AVX512VPOPCNTDQ__) \
  X("gfni", __GFNI__)

namespace diffbench::bench {

#define DIFFBENCH_COUNT(name, macro) +1
inline constexpr int isa_extension_count = 0 DIFFBENCH_ISA_EXTENSIONS(DIFFBENCH_COUNT);
#undef DIFFBENCH_COUNT

/// What the compiler was allowed to use, in the order of the list.
extern const bool compiled_for[isa_extension_count];

/// The line for the first extension that is compiled for and not in `cpu`; nullptr when all are.
/// The line stays valid until the next call.
[[nodiscard]] const char* describe_mismatch(const bool* compiled, const bool* cpu) noexcept;

} // namespace diffbench::bench
