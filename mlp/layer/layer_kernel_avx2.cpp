// SPDX-License-Identifier: Apache-2.0
// Layer kernels with 256-bit vectors (AVX2, FMA). Only reached when the CPU has them.
#include "diffbench/vectors.hpp"
#include "layer/layer_kernel.hpp"

#include <immintrin.h>

namespace diffbench::mlp {

namespace {

struct Float32 : Vectors<float, 32> {
  static constexpr int registers = 16;
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static Vector sqrt(Vector a) { return _mm256_sqrt_ps(a); }
  // Of a NaN and another the second operand is taken.
  static Vector relu(Vector a) { return _mm256_max_ps(_mm256_setzero_ps(), a); }
  static Vector zero_unless_positive(Vector gate, Vector v) {
    return _mm256_and_ps(_mm256_cmp_ps(gate, _mm256_setzero_ps(), _CMP_GT_OQ), v);
  }
  static Vector interleave_low(Vector a, Vector b) {
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
  }
  static Vector interleave_high(Vector a, Vector b) {
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
  }
};

struct Float64 : Vectors<double, 32> {
  static constexpr int registers = 16;
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
  static Vector sqrt(Vector a) { return _mm256_sqrt_pd(a); }
  // Of a NaN and another the second operand is taken.
  static Vector relu(Vector a) { return _mm256_max_pd(_mm256_setzero_pd(), a); }
  static Vector zero_unless_positive(Vector gate, Vector v) {
    return _mm256_and_pd(_mm256_cmp_pd(gate, _mm256_setzero_pd(), _CMP_GT_OQ), v);
  }
  static Vector interleave_low(Vector a, Vector b) {
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
  }
  static Vector interleave_high(Vector a, Vector b) {
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
  }
};

constexpr KernelSet kernels = {Kernels<Float32>::table, Kernels<Float64>::table};

} // namespace

const KernelSet& avx2_kernels() { return kernels; }

} // namespace diffbench::mlp
