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

#define DIFFBENCH_VECTORS(T, NAME, BYTES)                                              \
  struct alignas(BYTES) NAME##1 {                                                      \
    T x;                                                                               \
  };                                                                                   \
  inline NAME##1 make_##NAME##1(T x) { return {x}; }                                   \
  struct alignas(2 * BYTES) NAME##2 {                                                  \
    T x, y;                                                                            \
  };                                                                                   \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                           \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                   \
  struct alignas(4 * BYTES < 16 ? 4 * BYTES : 16) NAME##4 {                            \
    T x, y, z, w;                                                                      \
  };                                                                                   \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define DIFFBENCH_ALL_VECTORS(T, NAME, BYTES) \
  struct alignas(BYTES) NAME##3 {             \
    T x, y, z;                                \
  };                                          \
  DIFFBENCH_VECTORS(T, NAME, BYTES)

using uint = unsigned;
DIFFBENCH_ALL_VECTORS(signed char, char, 1)
DIFFBENCH_ALL_VECTORS(unsigned char, uchar, 1)
DIFFBENCH_ALL_VECTORS(short, short, 2)
DIFFBENCH_ALL_VECTORS(unsigned short, ushort, 2)
DIFFBENCH_ALL_VECTORS(int, int, 4)
DIFFBENCH_VECTORS(unsigned, uint, 4)
DIFFBENCH_ALL_VECTORS(long long, longlong, 8)
DIFFBENCH_ALL_VECTORS(unsigned long long, ulonglong, 8)
DIFFBENCH_ALL_VECTORS(float, float, 4)
DIFFBENCH_ALL_VECTORS(double, double, 8)

#undef DIFFBENCH_ALL_VECTORS
#undef DIFFBENCH_VECTORS
