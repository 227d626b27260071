// SPDX-License-Identifier: Apache-2.0
// dim3 and the built-in vectors, sized and aligned as CUDA's are.
#pragma once

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#define DIFFBENCH_VECTOR2(T, ALIGNMENT) \
  struct alignas(ALIGNMENT) T##2 {      \
    T x, y;                             \
  };                                    \
  inline T##2 make_##T##2(T x, T y) { return {x, y}; }
#define DIFFBENCH_VECTOR4(T, ALIGNMENT) \
  struct alignas(ALIGNMENT) T##4 {      \
    T x, y, z, w;                       \
  };                                    \
  inline T##4 make_##T##4(T x, T y, T z, T w) { return {x, y, z, w}; }

using uint = unsigned;
DIFFBENCH_VECTOR2(int, 8)
DIFFBENCH_VECTOR2(uint, 8)
DIFFBENCH_VECTOR2(float, 8)
DIFFBENCH_VECTOR2(double, 16)
DIFFBENCH_VECTOR4(int, 16)
DIFFBENCH_VECTOR4(uint, 16)
DIFFBENCH_VECTOR4(float, 16)

#undef DIFFBENCH_VECTOR2
#undef DIFFBENCH_VECTOR4
