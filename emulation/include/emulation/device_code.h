// SPDX-License-Identifier: Apache-2.0
// What kernels see: the function specifiers, the built-in variables and the device functions.
//
// A block's threads are fibers of one host thread (src/fiber.hpp). A thread runs until it meets a
// barrier, a shuffle, an atomic or __nanosleep; there the schedule goes on with a thread chosen by
// the seed. Each barrier knows the line it stands on, so that threads that wait at different ones
// are told apart.
#pragma once

#include "emulation/vector_types.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if !defined(DIFFBENCH_USER_CODE) // there the translation takes them out, and __shared__ with them
#define __host__
#define __device__
#define __global__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__

extern const uint3& threadIdx;
extern const uint3& blockIdx;
extern const dim3& blockDim;
extern const dim3& gridDim;
inline constexpr int warpSize = 32;

/// The block's dynamic shared memory: exactly the bytes of the launch, 0xff when the block starts.
void* emulated_dynamic_shared();

namespace diffbench::emulation::detail {

/// A line of a kernel.
struct Site {
  const char* file;
  int line;
};

/// How the lanes of a warp meet.
enum class WarpCall { sync, shuffle, vote };

void block_barrier(Site site);
/// A barrier that tells each thread for how many of the block `predicate` is not 0.
[[nodiscard]] int block_vote(int predicate, Site site);
void grid_barrier(Site site);
[[nodiscard]] bool grid_is_cooperative();
/// Waits for the lanes of `mask`; returns what lane `source` passed as `value`, all bits set when
/// that lane does not take part. For WarpCall::vote: the mask of the lanes with a value other than
/// 0.
std::uint64_t warp_meeting(WarpCall call, unsigned mask, std::uint64_t value, int source,
                           Site site);
[[nodiscard]] int lane();
/// The lanes that have not returned: those that a warp which has not diverged would have.
[[nodiscard]] unsigned active_mask(Site site);
/// Lets other threads run, if the schedule wants so.
void yield();
/// An atomic access, which lets other threads run first. `scope`: __NV_THREAD_SCOPE_*.
struct AtomicAccess {
  bool reads, writes;
  bool acquires, releases;
  int scope;
  bool compares = false; ///< and writes only what still has the value that it was told
};
void atomic_access(const void* address, std::size_t bytes, AtomicAccess access, Site site);
void fence(int scope);
[[noreturn]] void trap(Site site);
void wide_access(const void* address, Site site);

template <typename T>
T shuffle(unsigned mask, T value, int source, Site site) {
  static_assert(std::is_arithmetic_v<T>, "shuffles move numbers");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_meeting(WarpCall::shuffle, mask, bits, source, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace diffbench::emulation::detail

// The site of a call as default argument; std::source_location is not in Clang 14.
#define DIFFBENCH_SITE \
  diffbench::emulation::detail::Site site = {__builtin_FILE(), __builtin_LINE()}

inline void __syncthreads(DIFFBENCH_SITE) { diffbench::emulation::detail::block_barrier(site); }
inline int __syncthreads_count(int predicate, DIFFBENCH_SITE) {
  return diffbench::emulation::detail::block_vote(predicate, site);
}
inline int __syncthreads_or(int predicate, DIFFBENCH_SITE) {
  return diffbench::emulation::detail::block_vote(predicate, site) != 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, DIFFBENCH_SITE) {
  return diffbench::emulation::detail::block_vote(predicate == 0 ? 1 : 0, site) == 0 ? 1 : 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, DIFFBENCH_SITE) {
  using diffbench::emulation::detail::WarpCall;
  diffbench::emulation::detail::warp_meeting(WarpCall::sync, mask, 0, 0, site);
}

// Shuffles: a lane outside its segment of `width` lanes reads its own value (CUDA C++ Programming
// Guide, "Warp Shuffle Functions").
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, DIFFBENCH_SITE) {
  const int first = diffbench::emulation::detail::lane() & ~(width - 1);
  return diffbench::emulation::detail::shuffle(mask, value, first + (source & (width - 1)), site);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, DIFFBENCH_SITE) {
  const int lane = diffbench::emulation::detail::lane();
  const int source = lane - static_cast<int>(delta);
  const bool inside = source >= (lane & ~(width - 1));
  return diffbench::emulation::detail::shuffle(mask, value, inside ? source : lane, site);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, DIFFBENCH_SITE) {
  const int lane = diffbench::emulation::detail::lane();
  const int source = lane + static_cast<int>(delta);
  const bool inside = source < (lane & ~(width - 1)) + width;
  return diffbench::emulation::detail::shuffle(mask, value, inside ? source : lane, site);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, DIFFBENCH_SITE) {
  const int lane = diffbench::emulation::detail::lane();
  const int source = lane ^ lane_mask;
  const bool inside = source < (lane & ~(width - 1)) + width;
  return diffbench::emulation::detail::shuffle(mask, value, inside ? source : lane, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, DIFFBENCH_SITE) {
  using diffbench::emulation::detail::WarpCall;
  return static_cast<unsigned>(diffbench::emulation::detail::warp_meeting(
      WarpCall::vote, mask, predicate != 0 ? 1 : 0, 0, site));
}
inline int __any_sync(unsigned mask, int predicate, DIFFBENCH_SITE) {
  using diffbench::emulation::detail::WarpCall;
  return diffbench::emulation::detail::warp_meeting(WarpCall::vote, mask, predicate != 0 ? 1 : 0, 0,
                                                    site) != 0;
}
inline int __all_sync(unsigned mask, int predicate, DIFFBENCH_SITE) {
  return __any_sync(mask, predicate == 0, site) == 0;
}
/// Of the warp, the lanes that come here before any of it waits elsewhere or has to.
inline unsigned __activemask(DIFFBENCH_SITE) {
  return diffbench::emulation::detail::active_mask(site);
}

[[noreturn]] inline void __trap(DIFFBENCH_SITE) { diffbench::emulation::detail::trap(site); }

/// An access of 16 bytes, which a device refuses at an address that is no multiple of 16. The host
/// does not, so code says here what it does.
inline void emulated_wide_access(const void* address, DIFFBENCH_SITE) {
  diffbench::emulation::detail::wide_access(address, site);
}

// One host thread runs all threads of a kernel, so memory is always consistent here: orders and
// scopes have a meaning for the race detector only (src/race_detector.hpp).
inline constexpr int __NV_ATOMIC_RELAXED = 0;
inline constexpr int __NV_ATOMIC_ACQUIRE = 2;
inline constexpr int __NV_ATOMIC_RELEASE = 3;
inline constexpr int __NV_THREAD_SCOPE_BLOCK = 1;
inline constexpr int __NV_THREAD_SCOPE_CLUSTER = 2;
inline constexpr int __NV_THREAD_SCOPE_DEVICE = 3;
inline constexpr int __NV_THREAD_SCOPE_SYSTEM = 4;

inline void __threadfence() { diffbench::emulation::detail::fence(__NV_THREAD_SCOPE_DEVICE); }
inline void __threadfence_block() { diffbench::emulation::detail::fence(__NV_THREAD_SCOPE_BLOCK); }
inline void __threadfence_system() {
  diffbench::emulation::detail::fence(__NV_THREAD_SCOPE_SYSTEM);
}
inline void __nanosleep(unsigned) { diffbench::emulation::detail::yield(); }

// What is done here with memory is told by atomic_access().
#define DIFFBENCH_NOT_WATCHED __attribute__((no_sanitize("thread")))

namespace diffbench::emulation::detail {
template <typename T, typename Update>
DIFFBENCH_NOT_WATCHED T atomic_update(T* address, Update update, Site site,
                                      int scope = __NV_THREAD_SCOPE_DEVICE, bool compares = false) {
  atomic_access(address, sizeof(T),
                {.reads = true,
                 .writes = true,
                 .acquires = false,
                 .releases = false,
                 .scope = scope,
                 .compares = compares},
                site);
  const T old = *static_cast<volatile T*>(address);
  *static_cast<volatile T*>(address) = update(old);
  return old;
}
/// From or to memory that others share.
template <typename T>
DIFFBENCH_NOT_WATCHED void atomic_copy(T* to, const T* from, AtomicAccess access, Site site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16 && alignof(T) == sizeof(T));
  const T* const address = access.reads ? from : to;
  atomic_access(address, sizeof(T), access, site);
  if constexpr (sizeof(T) == 16) {
    wide_access(address, site);
  }
  std::memcpy(to, from, sizeof(T));
}
} // namespace diffbench::emulation::detail

// Each also for the threads of a block, and for those of the whole system.
#define DIFFBENCH_ATOMIC(NAME, SUFFIX, SCOPE, REQUIREMENT, ...)                                  \
  template <typename T>                                                                          \
  T NAME##SUFFIX(T* address, std::type_identity_t<T> value, DIFFBENCH_SITE) {                    \
    static_assert(REQUIREMENT, #NAME ": CUDA has it for other types only");                      \
    return diffbench::emulation::detail::atomic_update(                                          \
        address, [=]([[maybe_unused]] T old) -> T { return static_cast<T>(__VA_ARGS__); }, site, \
        SCOPE);                                                                                  \
  }
#define DIFFBENCH_ATOMICS(NAME, ...)                                   \
  DIFFBENCH_ATOMIC(NAME, , __NV_THREAD_SCOPE_DEVICE, __VA_ARGS__)      \
  DIFFBENCH_ATOMIC(NAME, _block, __NV_THREAD_SCOPE_BLOCK, __VA_ARGS__) \
  DIFFBENCH_ATOMIC(NAME, _system, __NV_THREAD_SCOPE_SYSTEM, __VA_ARGS__)
DIFFBENCH_ATOMICS(atomicAdd, sizeof(T) >= 4, old + value)
DIFFBENCH_ATOMICS(atomicSub, sizeof(T) == 4 && std::is_integral_v<T>, old - value)
DIFFBENCH_ATOMICS(atomicMax, sizeof(T) >= 4 && std::is_integral_v<T>, old < value ? value : old)
DIFFBENCH_ATOMICS(atomicMin, sizeof(T) >= 4 && std::is_integral_v<T>, value < old ? value : old)
DIFFBENCH_ATOMICS(atomicAnd, sizeof(T) >= 4 && std::is_integral_v<T>, old& value)
DIFFBENCH_ATOMICS(atomicOr, sizeof(T) >= 4 && std::is_integral_v<T>, old | value)
DIFFBENCH_ATOMICS(atomicXor, sizeof(T) >= 4 && std::is_integral_v<T>, old ^ value)
DIFFBENCH_ATOMICS(atomicExch, sizeof(T) >= 4, value)
DIFFBENCH_ATOMICS(atomicInc, (std::is_same_v<T, unsigned>), old >= value ? 0 : old + 1)
DIFFBENCH_ATOMICS(atomicDec, (std::is_same_v<T, unsigned>),
                  old == 0 || old > value ? value : old - 1)
#undef DIFFBENCH_ATOMICS
#undef DIFFBENCH_ATOMIC
#define DIFFBENCH_ATOMIC_CAS(NAME, SCOPE)                                                    \
  template <typename T>                                                                      \
  T NAME(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,      \
         DIFFBENCH_SITE) {                                                                   \
    return diffbench::emulation::detail::atomic_update(                                      \
        address, [=](T old) { return old == expected ? desired : old; }, site, SCOPE, true); \
  }
DIFFBENCH_ATOMIC_CAS(atomicCAS, __NV_THREAD_SCOPE_DEVICE)
DIFFBENCH_ATOMIC_CAS(atomicCAS_block, __NV_THREAD_SCOPE_BLOCK)
DIFFBENCH_ATOMIC_CAS(atomicCAS_system, __NV_THREAD_SCOPE_SYSTEM)
#undef DIFFBENCH_ATOMIC_CAS

// Since CUDA 12.8. Of anything of 1, 2, 4, 8 or 16 bytes, aligned as a device wants it.
template <typename T>
void __nv_atomic_load(T* address, T* value, int order, int scope, DIFFBENCH_SITE) {
  diffbench::emulation::detail::atomic_copy(value, address,
                                            {.reads = true,
                                             .writes = false,
                                             .acquires = order != __NV_ATOMIC_RELAXED,
                                             .releases = false,
                                             .scope = scope},
                                            site);
}
template <typename T>
void __nv_atomic_store(T* address, T* value, int order, int scope, DIFFBENCH_SITE) {
  diffbench::emulation::detail::atomic_copy(address, value,
                                            {.reads = false,
                                             .writes = true,
                                             .acquires = false,
                                             .releases = order != __NV_ATOMIC_RELAXED,
                                             .scope = scope},
                                            site);
}
template <typename T>
T __nv_atomic_load_n(T* address, int order, int scope, DIFFBENCH_SITE) {
  T value;
  __nv_atomic_load(address, &value, order, scope, site);
  return value;
}
template <typename T>
void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int order, int scope,
                         DIFFBENCH_SITE) {
  __nv_atomic_store(address, &value, order, scope, site);
}
#undef DIFFBENCH_NOT_WATCHED
#undef DIFFBENCH_SITE

// Loads with a cache hint: the hint has no meaning here.
#define DIFFBENCH_LOAD(NAME) \
  template <typename T>      \
  T NAME(const T* address) { \
    return *address;         \
  }
DIFFBENCH_LOAD(__ldg)
DIFFBENCH_LOAD(__ldcg)
DIFFBENCH_LOAD(__ldcs)
#undef DIFFBENCH_LOAD

// Arithmetic. <cmath> has the C functions, of double only, in the global namespace; CUDA C++ has
// the overloads there.
using std::abs;
using std::ceil;
using std::exp;
using std::fabs;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::sqrt;

// Functions and not templates, so that they are preferred to std::min and std::max.
#define DIFFBENCH_MIN_MAX(R, A, B)                                                        \
  constexpr R min(A a, B b) {                                                             \
    return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b) : static_cast<R>(a); \
  }                                                                                       \
  constexpr R max(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
  }
#define DIFFBENCH_INTEGER_MIN_MAX(T)                    \
  DIFFBENCH_MIN_MAX(T, T, T)                            \
  DIFFBENCH_MIN_MAX(unsigned T, unsigned T, unsigned T) \
  DIFFBENCH_MIN_MAX(unsigned T, T, unsigned T)          \
  DIFFBENCH_MIN_MAX(unsigned T, unsigned T, T)
DIFFBENCH_INTEGER_MIN_MAX(int)
DIFFBENCH_INTEGER_MIN_MAX(long)
DIFFBENCH_INTEGER_MIN_MAX(long long)
DIFFBENCH_MIN_MAX(double, double, double)
DIFFBENCH_MIN_MAX(double, float, double)
DIFFBENCH_MIN_MAX(double, double, float)
#undef DIFFBENCH_INTEGER_MIN_MAX
#undef DIFFBENCH_MIN_MAX
constexpr float min(float a, float b) { return b < a ? b : a; }
constexpr float max(float a, float b) { return a < b ? b : a; }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __clzll(long long bits) {
  return bits == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(bits));
}
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1) : 0; } // NaN becomes 0
inline float __frcp_rn(float a) { return 1 / a; }
inline float rsqrtf(float a) { return 1 / std::sqrt(a); }
inline double rsqrt(double a) { return 1 / std::sqrt(a); }
inline float rsqrt(float a) { return 1 / std::sqrt(a); }
// Approximations of a card, exactly.
#define DIFFBENCH_APPROXIMATION(NAME) \
  inline float __##NAME##f(float a) { return std::NAME(a); }
DIFFBENCH_APPROXIMATION(exp)
DIFFBENCH_APPROXIMATION(log)
DIFFBENCH_APPROXIMATION(log2)
DIFFBENCH_APPROXIMATION(log10)
DIFFBENCH_APPROXIMATION(sin)
DIFFBENCH_APPROXIMATION(cos)
DIFFBENCH_APPROXIMATION(tan)
#undef DIFFBENCH_APPROXIMATION
inline float __powf(float a, float b) { return std::pow(a, b); }
inline void __sincosf(float a, float* sine, float* cosine) {
  *sine = std::sin(a);
  *cosine = std::cos(a);
}
#define DIFFBENCH_ROUNDED(NAME, T, F)                                           \
  inline T __##NAME##_rn(F a) { return static_cast<T>(std::nearbyint(a)); } \
  inline T __##NAME##_rz(F a) { return static_cast<T>(a); }                 \
  inline T __##NAME##_ru(F a) { return static_cast<T>(std::ceil(a)); }      \
  inline T __##NAME##_rd(F a) { return static_cast<T>(std::floor(a)); }
DIFFBENCH_ROUNDED(float2int, int, float)
DIFFBENCH_ROUNDED(double2int, int, double)
#undef DIFFBENCH_ROUNDED
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline float __double2float_rn(double a) { return static_cast<float>(a); }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned __brev(unsigned bits) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) {
    reversed |= (bits >> i & 1) << (31 - i);
  }
  return reversed;
}
inline long long clock64() { return std::clock(); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline int __mul24(int a, int b) { return a * b; } // of 24 bits: then there is no more to it
inline int __float_as_int(float value) { return __builtin_bit_cast(int, value); }
inline unsigned __float_as_uint(float value) { return __builtin_bit_cast(unsigned, value); }
inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
