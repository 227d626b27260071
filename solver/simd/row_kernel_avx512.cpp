// SPDX-License-Identifier: Apache-2.0
// Row kernels with 512-bit vectors (AVX-512 F, VL, DQ, BW). Only reached when the CPU has them.
#include "simd/fused_vectors.hpp"

#include <immintrin.h>

namespace diffbench::simd {

namespace {

struct Float32 : FusedVectors<float, 64, Float32> {
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  static Vector mul_carefully(Vector a, Vector b) {
    const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000));
    const __m512i normal = _mm512_castps_si512(broadcast(scaled_normal<float>));
    const __m512i product = _mm512_castps_si512(_mm512_mul_ps(a, b));
    const __mmask16 small = _mm512_testn_epi32_mask(product, _mm512_set1_epi32(0x60000000));
    const Vector last_bit = _mm512_castsi512_ps(_mm512_maskz_ternarylogic_epi32(
        small, _mm512_castps_si512(b), sign, normal, 0xea)); // (b & sign) | normal
    const Vector rounded = _mm512_sub_ps(_mm512_fmadd_ps(a, b, last_bit), last_bit);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(b), sign,
                                                         _mm512_castps_si512(rounded), 0xea));
  }
  static Vector rotate_up(Vector v) {
    const __m512i whole = _mm512_castps_si512(v);
    return _mm512_castsi512_ps(_mm512_alignr_epi32(whole, whole, 15));
  }
  static Vector rotate_down(Vector v) {
    const __m512i whole = _mm512_castps_si512(v);
    return _mm512_castsi512_ps(_mm512_alignr_epi32(whole, whole, 1));
  }
  static Vector insert(Vector v, std::int64_t lane, float value) {
    return _mm512_mask_mov_ps(v, static_cast<__mmask16>(1U << lane), _mm512_set1_ps(value));
  }
  static Vector join(const float* const* from, std::int64_t i) {
    Vector v = _mm512_castps128_ps512(_mm_loadu_ps(from[0] + i));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(from[4] + i), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(from[8] + i), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps(from[12] + i), 3);
  }
  static void split(Vector v, float* const* to, std::int64_t i) {
    _mm_storeu_ps(to[0] + i, _mm512_castps512_ps128(v));
    _mm_storeu_ps(to[4] + i, _mm512_extractf32x4_ps(v, 1));
    _mm_storeu_ps(to[8] + i, _mm512_extractf32x4_ps(v, 2));
    _mm_storeu_ps(to[12] + i, _mm512_extractf32x4_ps(v, 3));
  }
  static void transpose(Vector (&v)[4]) {
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
    v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
};

struct Float64 : FusedVectors<double, 64, Float64> {
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
  static Vector mul_carefully(Vector a, Vector b) {
    const __m512i sign = _mm512_set1_epi64(static_cast<long long>(0x8000000000000000));
    const __m512i normal = _mm512_castpd_si512(broadcast(scaled_normal<double>));
    const __m512i product = _mm512_castpd_si512(_mm512_mul_pd(a, b));
    const __mmask8 small = _mm512_testn_epi64_mask(product, _mm512_set1_epi64(0x6000000000000000));
    const Vector last_bit = _mm512_castsi512_pd(_mm512_maskz_ternarylogic_epi64(
        small, _mm512_castpd_si512(b), sign, normal, 0xea)); // (b & sign) | normal
    const Vector rounded = _mm512_sub_pd(_mm512_fmadd_pd(a, b, last_bit), last_bit);
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(_mm512_castpd_si512(b), sign,
                                                         _mm512_castpd_si512(rounded), 0xea));
  }
  static Vector rotate_up(Vector v) {
    const __m512i whole = _mm512_castpd_si512(v);
    return _mm512_castsi512_pd(_mm512_alignr_epi64(whole, whole, 7));
  }
  static Vector rotate_down(Vector v) {
    const __m512i whole = _mm512_castpd_si512(v);
    return _mm512_castsi512_pd(_mm512_alignr_epi64(whole, whole, 1));
  }
  static Vector insert(Vector v, std::int64_t lane, double value) {
    return _mm512_mask_mov_pd(v, static_cast<__mmask8>(1U << lane), _mm512_set1_pd(value));
  }
  static Vector join(const double* const* from, std::int64_t i) {
    Vector v = _mm512_castpd128_pd512(_mm_loadu_pd(from[0] + i));
    v = _mm512_insertf64x2(v, _mm_loadu_pd(from[2] + i), 1);
    v = _mm512_insertf64x2(v, _mm_loadu_pd(from[4] + i), 2);
    return _mm512_insertf64x2(v, _mm_loadu_pd(from[6] + i), 3);
  }
  static void split(Vector v, double* const* to, std::int64_t i) {
    _mm_storeu_pd(to[0] + i, _mm512_castpd512_pd128(v));
    _mm_storeu_pd(to[2] + i, _mm512_extractf64x2_pd(v, 1));
    _mm_storeu_pd(to[4] + i, _mm512_extractf64x2_pd(v, 2));
    _mm_storeu_pd(to[6] + i, _mm512_extractf64x2_pd(v, 3));
  }
  static void transpose(Vector (&v)[2]) {
    const Vector first = _mm512_unpacklo_pd(v[0], v[1]);
    v[1] = _mm512_unpackhi_pd(v[0], v[1]);
    v[0] = first;
  }
};

template <Pipes pipes>
constexpr KernelSet kernels = {Kernels<Float32>::table<pipes>, Kernels<Float64>::table<pipes>};

} // namespace

const KernelSet& avx512_kernels(Pipes pipes) {
  return pipes == Pipes::fused ? kernels<Pipes::fused> : kernels<Pipes::plain>;
}

} // namespace diffbench::simd
