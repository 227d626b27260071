// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace diffbench {

namespace { // a file for each instruction set has its own

/// What is alike in vectors of any width, by the compiler's vector extension.
template <typename T, int bytes>
struct Vectors {
  using Cell = T;
  using Vector __attribute__((vector_size(bytes), may_alias)) = T;
  static constexpr std::int64_t count = bytes / sizeof(T);
  static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  static void store(T* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
  static Vector broadcast(T v) { return v - Vector{}; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector div(Vector a, Vector b) { return a / b; }
};

} // namespace

} // namespace diffbench
