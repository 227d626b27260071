// SPDX-License-Identifier: Apache-2.0
// Layer kernels with 512-bit vectors (AVX-512 F, VL, DQ, BW). Only reached when the CPU has them.
#include "diffbench/vectors.hpp"
#include "layer/layer_kernel.hpp"

#include <immintrin.h>

namespace diffbench::mlp {

namespace {

struct Float32 : Vectors<float, 64> {
  static constexpr int registers = 32;
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  static Vector sqrt(Vector a) { return _mm512_sqrt_ps(a); }
  // Of a NaN and another the second operand is taken.
  static Vector relu(Vector a) { return _mm512_max_ps(_mm512_setzero_ps(), a); }
  static Vector zero_unless_positive(Vector gate, Vector v) {
    const __mmask16 positive = _mm512_cmp_ps_mask(gate, _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_maskz_mov_ps(positive, v);
  }
  static Vector interleave_low(Vector a, Vector b) {
    const __m512i order = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutex2var_ps(a, order, b);
  }
  static Vector interleave_high(Vector a, Vector b) {
    const __m512i order =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    return _mm512_permutex2var_ps(a, order, b);
  }
};

struct Float64 : Vectors<double, 64> {
  static constexpr int registers = 32;
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
  static Vector sqrt(Vector a) { return _mm512_sqrt_pd(a); }
  // Of a NaN and another the second operand is taken.
  static Vector relu(Vector a) { return _mm512_max_pd(_mm512_setzero_pd(), a); }
  static Vector zero_unless_positive(Vector gate, Vector v) {
    const __mmask8 positive = _mm512_cmp_pd_mask(gate, _mm512_setzero_pd(), _CMP_GT_OQ);
    return _mm512_maskz_mov_pd(positive, v);
  }
  static Vector interleave_low(Vector a, Vector b) {
    const __m512i order = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    return _mm512_permutex2var_pd(a, order, b);
  }
  static Vector interleave_high(Vector a, Vector b) {
    const __m512i order = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    return _mm512_permutex2var_pd(a, order, b);
  }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& avx512_kernels() { return kernels; }

} // namespace diffbench::mlp
