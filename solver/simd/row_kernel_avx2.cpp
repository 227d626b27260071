// SPDX-License-Identifier: Apache-2.0
// Row kernels with 256-bit vectors (AVX2 and FMA). Only reached when the CPU has them.
#include "simd/fused_vectors.hpp"

#include <immintrin.h>

namespace diffbench::simd {

namespace {

struct Float32 : FusedVectors<float, 32, Float32> {
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static Vector mul_carefully(Vector a, Vector b) {
    const Vector normal = broadcast(scaled_normal<float>);
    const Vector sign = _mm256_and_ps(b, broadcast(-0.0F));
    const Vector product = _mm256_andnot_ps(broadcast(-0.0F), _mm256_mul_ps(a, b));
    const Vector small = _mm256_cmp_ps(product, normal, _CMP_LT_OQ);
    const Vector last_bit = _mm256_and_ps(small, _mm256_or_ps(sign, normal));
    return _mm256_or_ps(sign, _mm256_sub_ps(_mm256_fmadd_ps(a, b, last_bit), last_bit));
  }
  static Vector rotate_up(Vector v) {
    return _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
  }
  static Vector rotate_down(Vector v) {
    return _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
  }
  static Vector insert(Vector v, std::int64_t lane, float value) {
    const __m256i at = _mm256_cmpeq_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                          _mm256_set1_epi32(static_cast<int>(lane)));
    return _mm256_blendv_ps(v, _mm256_set1_ps(value), _mm256_castsi256_ps(at));
  }
  static Vector join(const float* const* from, std::int64_t i) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from[0] + i)),
                                _mm_loadu_ps(from[4] + i), 1);
  }
  static void split(Vector v, float* const* to, std::int64_t i) {
    _mm_storeu_ps(to[0] + i, _mm256_castps256_ps128(v));
    _mm_storeu_ps(to[4] + i, _mm256_extractf128_ps(v, 1));
  }
  static void transpose(Vector (&v)[4]) {
    const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(v[0], v[1]));
    const __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(v[0], v[1]));
    const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(v[2], v[3]));
    const __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(v[2], v[3]));
    v[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    v[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    v[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    v[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
  }
};

struct Float64 : FusedVectors<double, 32, Float64> {
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
  static Vector mul_carefully(Vector a, Vector b) {
    const Vector normal = broadcast(scaled_normal<double>);
    const Vector sign = _mm256_and_pd(b, broadcast(-0.0));
    const Vector product = _mm256_andnot_pd(broadcast(-0.0), _mm256_mul_pd(a, b));
    const Vector small = _mm256_cmp_pd(product, normal, _CMP_LT_OQ);
    const Vector last_bit = _mm256_and_pd(small, _mm256_or_pd(sign, normal));
    return _mm256_or_pd(sign, _mm256_sub_pd(_mm256_fmadd_pd(a, b, last_bit), last_bit));
  }
  static Vector rotate_up(Vector v) { return _mm256_permute4x64_pd(v, 0b10010011); }
  static Vector rotate_down(Vector v) { return _mm256_permute4x64_pd(v, 0b00111001); }
  static Vector insert(Vector v, std::int64_t lane, double value) {
    const __m256i at = _mm256_cmpeq_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(lane));
    return _mm256_blendv_pd(v, _mm256_set1_pd(value), _mm256_castsi256_pd(at));
  }
  static Vector join(const double* const* from, std::int64_t i) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(from[0] + i)),
                                _mm_loadu_pd(from[2] + i), 1);
  }
  static void split(Vector v, double* const* to, std::int64_t i) {
    _mm_storeu_pd(to[0] + i, _mm256_castpd256_pd128(v));
    _mm_storeu_pd(to[2] + i, _mm256_extractf128_pd(v, 1));
  }
  static void transpose(Vector (&v)[2]) {
    const Vector first = _mm256_unpacklo_pd(v[0], v[1]);
    v[1] = _mm256_unpackhi_pd(v[0], v[1]);
    v[0] = first;
  }
};

template <Pipes pipes>
constexpr KernelSet kernels = {Kernels<Float32>::table<pipes>, Kernels<Float64>::table<pipes>};

} // namespace

const KernelSet& avx2_kernels(Pipes pipes) {
  return pipes == Pipes::fused ? kernels<Pipes::fused> : kernels<Pipes::plain>;
}

} // namespace diffbench::simd
