// SPDX-License-Identifier: Apache-2.0
// Row kernels with 128-bit vectors for any CPU: the compiler's vector extension, which becomes SSE2
// on x86-64 and NEON on 64-bit ARM.
#include "simd/row_kernel.hpp"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace diffbench::simd {

namespace {

template <typename T, int lanes>
struct Portable {
  using Cell = T;
  using Vector __attribute__((vector_size(16))) = T;
  using UnalignedVector __attribute__((vector_size(16), aligned(alignof(T)), may_alias)) = T;
  using Bits = decltype(Vector{} < Vector{});
  static constexpr std::int64_t count = lanes;
  static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  static void store(T* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
  static Vector broadcast(T v) { return v - Vector{}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector opaque(T v) { return broadcast(v); }
  static Vector product(Vector a, Vector b, Vector /*zero*/) { return a * b; }
  static Vector add_fused(Vector a, Vector /*one*/, Vector b) { return a + b; }
  static Vector add_scaled(Vector a, Vector b, Vector scale, Vector c) { return a * b * scale + c; }
  // Without fused operations: the product's error (Dekker 1971), which decides where the product is
  // half-way between two multiples. (None: the sum is right, by its even one.)
  static Vector mul_carefully(Vector a, Vector b) {
    constexpr bool single = sizeof(T) == sizeof(float);
    constexpr T splitter = static_cast<T>(single ? 0x1p12 + 1 : 0x1p27 + 1);
    constexpr T half_a_bit = scaled_normal<T> * static_cast<T>(single ? 0x1p-24 : 0x1p-53);
    const Vector a_high = splitter * a - (splitter * a - a);
    const Vector b_high = splitter * b - (splitter * b - b);
    const Vector a_low = a - a_high;
    const Vector b_low = b - b_high;
    const Vector product = a * b;
    const Vector error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;

    const Vector normal = broadcast(scaled_normal<T>);
    const Bits sign = reinterpret_cast<Bits>(b) & reinterpret_cast<Bits>(broadcast(T{-0.0}));
    const Bits small =
        reinterpret_cast<Bits>(product < normal) & reinterpret_cast<Bits>(product > -normal);
    const auto last_bit = reinterpret_cast<Vector>(small & (sign | reinterpret_cast<Bits>(normal)));
    const Vector even = (product + last_bit) - last_bit;
    const Vector rest = product - even;
    const Vector half = broadcast(half_a_bit);
    const Bits up = (rest == half) & (error > 0);
    const Bits down = (rest == -half) & (error < 0);
    const Vector rounded =
        even + reinterpret_cast<Vector>((up | down) & reinterpret_cast<Bits>(rest + rest));
    return reinterpret_cast<Vector>(sign | reinterpret_cast<Bits>(rounded));
  }
  // NEON's additions, multiplications and fused operations run in the same pipes: fewer of them are
  // quicker, and an addition gains nothing as a fused one (Pipes).
  static Vector sub4(Vector s, Vector u) {
#if defined(__ARM_NEON)
    if constexpr (lanes == 4) {
      return vfmsq_n_f32(s, u, 4);
    } else {
      return vfmsq_n_f64(s, u, 4);
    }
#else
    return s - T{4} * u;
#endif
  }
  static Vector insert(Vector v, std::int64_t lane, T value) {
    v[lane] = value;
    return v;
  }
  static Vector join(const T* const* from, std::int64_t i) {
    return *reinterpret_cast<const UnalignedVector*>(from[0] + i);
  }
  static void split(Vector v, T* const* to, std::int64_t i) {
    *reinterpret_cast<UnalignedVector*>(to[0] + i) = v;
  }
};

struct Float32 : Portable<float, 4> {
  static Vector rotate_up(Vector v) { return __builtin_shufflevector(v, v, 3, 0, 1, 2); }
  static Vector rotate_down(Vector v) { return __builtin_shufflevector(v, v, 1, 2, 3, 0); }
  static void transpose(Vector (&v)[4]) {
    const Vector a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const Vector b = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const Vector c = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const Vector d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  }
};

struct Float64 : Portable<double, 2> {
  static Vector rotate_up(Vector v) { return __builtin_shufflevector(v, v, 1, 0); }
  static Vector rotate_down(Vector v) { return __builtin_shufflevector(v, v, 1, 0); }
  static void transpose(Vector (&v)[2]) {
    const Vector first = __builtin_shufflevector(v[0], v[1], 0, 2);
    v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
    v[0] = first;
  }
};

constexpr KernelSet kernels = {Kernels<Float32>::table<Pipes::plain>,
                               Kernels<Float64>::table<Pipes::plain>};

} // namespace

const KernelSet& baseline_kernels() { return kernels; }

} // namespace diffbench::simd
