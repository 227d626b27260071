// Row kernels with 128-bit vectors for any CPU: the compiler's vector extension, which becomes SSE2
// on x86-64 and NEON on 64-bit ARM.
#include "simd/row_kernel.hpp"

namespace diffbench::simd {

namespace {

template <typename T, int lanes>
struct Portable {
  using Cell = T;
  using Vector __attribute__((vector_size(16))) = T;
  using UnalignedVector __attribute__((vector_size(16), aligned(alignof(T)), may_alias)) = T;
  static constexpr std::int64_t count = lanes;
  static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  static Vector load_unaligned(const T* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
  static void store(T* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
  static void store_unaligned(T* p, Vector v) { *reinterpret_cast<UnalignedVector*>(p) = v; }
  static Vector broadcast(T v) { return v - Vector{}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector sub4(Vector s, Vector u) { return s - T{4} * u; }
};

struct Float32 : Portable<float, 4> {
  static Vector from_left(Vector l, Vector c) { return __builtin_shufflevector(l, c, 3, 4, 5, 6); }
  static Vector from_right(Vector c, Vector r) { return __builtin_shufflevector(c, r, 1, 2, 3, 4); }
};

struct Float64 : Portable<double, 2> {
  static Vector from_left(Vector l, Vector c) { return __builtin_shufflevector(l, c, 1, 2); }
  static Vector from_right(Vector c, Vector r) { return __builtin_shufflevector(c, r, 1, 2); }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& baseline_kernels() { return kernels; }

} // namespace diffbench::simd
