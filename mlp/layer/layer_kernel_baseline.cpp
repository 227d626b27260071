// SPDX-License-Identifier: Apache-2.0
// Layer kernels with 128-bit vectors for any CPU: the compiler's vector extension, which becomes
// SSE2 on x86-64 and NEON on 64-bit ARM.
#include "layer/layer_kernel.hpp"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace diffbench::mlp {

namespace {

template <typename T, typename Integer, int lanes>
struct Portable {
  using Cell = T;
  using Vector __attribute__((vector_size(16))) = T;
  using Bits __attribute__((vector_size(16))) = Integer;
  static constexpr std::int64_t count = lanes;
#if defined(__ARM_NEON)
  static constexpr int registers = 32;
  static Vector fma(Vector a, Vector b, Vector c) {
    if constexpr (lanes == 4) {
      return vfmaq_f32(c, a, b);
    } else {
      return vfmaq_f64(c, a, b);
    }
  }
#else
  static constexpr int registers = 16;
  static Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
#endif
  static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  static void store(T* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
  static Vector broadcast(T v) { return v - Vector{}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector div(Vector a, Vector b) { return a / b; }
  static Vector relu(Vector a) {
    const Bits negative = reinterpret_cast<Bits>(a < Vector{});
    return reinterpret_cast<Vector>(~negative & reinterpret_cast<Bits>(a));
  }
  static Vector zero_unless_positive(Vector gate, Vector v) {
    const Bits positive = reinterpret_cast<Bits>(gate > Vector{});
    return reinterpret_cast<Vector>(positive & reinterpret_cast<Bits>(v));
  }
};

struct Float32 : Portable<float, std::int32_t, 4> {
  static Vector sqrt(Vector a) {
    return Vector{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]),
                  __builtin_sqrtf(a[3])};
  }
  static Vector interleave_low(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  }
  static Vector interleave_high(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  }
};

struct Float64 : Portable<double, std::int64_t, 2> {
  static Vector sqrt(Vector a) { return Vector{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
  static Vector interleave_low(Vector a, Vector b) { return __builtin_shufflevector(a, b, 0, 2); }
  static Vector interleave_high(Vector a, Vector b) { return __builtin_shufflevector(a, b, 1, 3); }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& baseline_kernels() { return kernels; }

} // namespace diffbench::mlp
