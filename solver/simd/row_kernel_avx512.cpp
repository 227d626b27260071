// Row kernels with 512-bit vectors (AVX-512 F, VL, DQ, BW). Only reached when the CPU has them.
#include "simd/row_kernel.hpp"

#include <immintrin.h>

namespace diffbench::simd {

namespace {

struct Float32 {
  using Cell = float;
  using Vector = __m512;
  static constexpr std::int64_t count = 16;
  static Vector load(const float* p) { return _mm512_load_ps(p); }
  static Vector load_unaligned(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm512_store_ps(p, v); }
  static void store_unaligned(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  static Vector broadcast(float v) { return _mm512_set1_ps(v); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector sub4(Vector s, Vector u) { return _mm512_fnmadd_ps(_mm512_set1_ps(4), u, s); }
  static Vector from_left(Vector l, Vector c) {
    return _mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(c), _mm512_castps_si512(l), 15));
  }
  static Vector from_right(Vector c, Vector r) {
    return _mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(r), _mm512_castps_si512(c), 1));
  }
};

struct Float64 {
  using Cell = double;
  using Vector = __m512d;
  static constexpr std::int64_t count = 8;
  static Vector load(const double* p) { return _mm512_load_pd(p); }
  static Vector load_unaligned(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, Vector v) { _mm512_store_pd(p, v); }
  static void store_unaligned(double* p, Vector v) { _mm512_storeu_pd(p, v); }
  static Vector broadcast(double v) { return _mm512_set1_pd(v); }
  static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
  static Vector sub4(Vector s, Vector u) { return _mm512_fnmadd_pd(_mm512_set1_pd(4), u, s); }
  static Vector from_left(Vector l, Vector c) {
    return _mm512_castsi512_pd(
        _mm512_alignr_epi64(_mm512_castpd_si512(c), _mm512_castpd_si512(l), 7));
  }
  static Vector from_right(Vector c, Vector r) {
    return _mm512_castsi512_pd(
        _mm512_alignr_epi64(_mm512_castpd_si512(r), _mm512_castpd_si512(c), 1));
  }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& avx512_kernels() { return kernels; }

} // namespace diffbench::simd
