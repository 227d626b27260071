// SPDX-License-Identifier: Apache-2.0
// What is alike in the vectors of x86 that have fused operations.
#pragma once

#include "diffbench/vectors.hpp"
#include "simd/row_kernel.hpp"

namespace diffbench::simd {

namespace {

/// With fused operations: `Fma::fma(a, b, c)` is a b + c, rounded once.
template <typename T, int bytes, typename Fma>
struct FusedVectors : Vectors<T, bytes> {
  using Vector = typename Vectors<T, bytes>::Vector;
  static Vector opaque(T v) {
    Vector all = Vectors<T, bytes>::broadcast(v);
    asm("" : "+v"(all));
    return all;
  }
  static Vector product(Vector a, Vector b, Vector zero) { return Fma::fma(a, b, zero); }
  static Vector add_fused(Vector a, Vector one, Vector b) { return Fma::fma(a, one, b); }
  static Vector add_scaled(Vector a, Vector b, Vector scale, Vector c) {
    return Fma::fma(a * b, scale, c);
  }
  static Vector sub4(Vector s, Vector u) {
    return Fma::fma(Vectors<T, bytes>::broadcast(-4), u, s);
  }
};

} // namespace

} // namespace diffbench::simd
