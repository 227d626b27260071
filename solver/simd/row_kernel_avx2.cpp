// Row kernels with 256-bit vectors (AVX2 and FMA). Only reached when the CPU has them.
#include "simd/row_kernel.hpp"

#include <immintrin.h>

namespace diffbench::simd {

namespace {

// AVX2 shifts bytes only within 128-bit halves: first bring the two neighbouring halves together.
struct Float32 {
  using Cell = float;
  using Vector = __m256;
  static constexpr std::int64_t count = 8;
  static Vector load(const float* p) { return _mm256_load_ps(p); }
  static Vector load_unaligned(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm256_store_ps(p, v); }
  static void store_unaligned(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  static Vector broadcast(float v) { return _mm256_set1_ps(v); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector sub4(Vector s, Vector u) { return _mm256_fnmadd_ps(_mm256_set1_ps(4), u, s); }
  static Vector from_left(Vector l, Vector c) {
    const __m256i between = _mm256_castps_si256(_mm256_permute2f128_ps(l, c, 0x21));
    return _mm256_castsi256_ps(_mm256_alignr_epi8(_mm256_castps_si256(c), between, 12));
  }
  static Vector from_right(Vector c, Vector r) {
    const __m256i between = _mm256_castps_si256(_mm256_permute2f128_ps(c, r, 0x21));
    return _mm256_castsi256_ps(_mm256_alignr_epi8(between, _mm256_castps_si256(c), 4));
  }
};

struct Float64 {
  using Cell = double;
  using Vector = __m256d;
  static constexpr std::int64_t count = 4;
  static Vector load(const double* p) { return _mm256_load_pd(p); }
  static Vector load_unaligned(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, Vector v) { _mm256_store_pd(p, v); }
  static void store_unaligned(double* p, Vector v) { _mm256_storeu_pd(p, v); }
  static Vector broadcast(double v) { return _mm256_set1_pd(v); }
  static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  static Vector sub4(Vector s, Vector u) { return _mm256_fnmadd_pd(_mm256_set1_pd(4), u, s); }
  static Vector from_left(Vector l, Vector c) {
    return _mm256_shuffle_pd(_mm256_permute2f128_pd(l, c, 0x21), c, 0b0101);
  }
  static Vector from_right(Vector c, Vector r) {
    return _mm256_shuffle_pd(c, _mm256_permute2f128_pd(c, r, 0x21), 0b0101);
  }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& avx2_kernels() { return kernels; }

} // namespace diffbench::simd
