// SPDX-License-Identifier: Apache-2.0
// What code calls that is compiled with -fsanitize=thread: of the compiler's interface to its
// runtime library (LLVM, compiler-rt/lib/tsan/rtl/tsan_interface.h; GCC has the same) all but the
// functions' beginnings and ends, which the build leaves out. The library itself is not linked.
#include "code_site.hpp"
#include "grid.hpp"
#include "host_watch.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <cstddef>

using namespace diffbench::emulation;

namespace {

inline void note(const void* address, std::size_t bytes, bool writes, const void* return_address) {
  if (RaceDetector* const detector = RaceDetector::watching()) {
    if (!emulation_image.holds(address)) {
      detector->access(address, bytes, writes, site_before(return_address));
    }
  } else if (host_is_watched) {
    runtime().host_touches(address, bytes, writes, site_before(return_address));
  }
}

// Of memory that other blocks see it is an atomic access that orders nothing (PTX ISA, "Memory
// Consistency Model": volatile operations), and who waits for another's store lets it run.
void note_volatile(const void* address, std::size_t bytes, bool writes,
                   const void* return_address) {
  if (!current_thread() || !race_detector().is_global(address)) {
    note(address, bytes, writes, return_address);
    return;
  }
  if (!writes) {
    detail::yield();
  }
  if (RaceDetector* const detector = RaceDetector::watching()) {
    detector->access_atomically(address, bytes,
                                {!writes, writes, false, false, static_cast<int>(Scope::system)},
                                site_before(return_address));
  }
}

} // namespace

// NOLINTBEGIN: the names are the compiler's
#define DIFFBENCH_ACCESS_OF(KIND, note, bytes)                \
  void __tsan_##KIND##read##bytes(void* address) {            \
    note(address, bytes, false, __builtin_return_address(0)); \
  }                                                           \
  void __tsan_##KIND##write##bytes(void* address) {           \
    note(address, bytes, true, __builtin_return_address(0));  \
  }                                                           \
  void __tsan_##KIND##read_write##bytes(void* address) {      \
    note(address, bytes, false, __builtin_return_address(0)); \
    note(address, bytes, true, __builtin_return_address(0));  \
  }
#define DIFFBENCH_ACCESS(bytes)                        \
  DIFFBENCH_ACCESS_OF(, note, bytes)                   \
  DIFFBENCH_ACCESS_OF(unaligned_, note, bytes)         \
  DIFFBENCH_ACCESS_OF(volatile_, note_volatile, bytes) \
  DIFFBENCH_ACCESS_OF(unaligned_volatile_, note, bytes)

// Atomic accesses of the compiler, which kernels have not: reference counts of the host's code.
#define DIFFBENCH_ATOMIC(bits, T)                                                               \
  T __tsan_atomic##bits##_load(const volatile T* a, int) {                                      \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                \
  }                                                                                             \
  void __tsan_atomic##bits##_store(volatile T* a, T value, int) {                               \
    __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                               \
  }                                                                                             \
  T __tsan_atomic##bits##_exchange(volatile T* a, T value, int) {                               \
    return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                     \
  }                                                                                             \
  T __tsan_atomic##bits##_fetch_add(volatile T* a, T value, int) {                              \
    return __atomic_fetch_add(a, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                             \
  T __tsan_atomic##bits##_fetch_sub(volatile T* a, T value, int) {                              \
    return __atomic_fetch_sub(a, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* expected, T desired, int, \
                                                    int) {                                      \
    return __atomic_compare_exchange_n(a, expected, desired, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                       \
  }

extern "C" {
void __tsan_init() { RaceDetector::enable(); }

DIFFBENCH_ACCESS(1)
DIFFBENCH_ACCESS(2)
DIFFBENCH_ACCESS(4)
DIFFBENCH_ACCESS(8)
DIFFBENCH_ACCESS(16)
void __tsan_read_range(void* address, unsigned long bytes) {
  note(address, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* address, unsigned long bytes) {
  note(address, bytes, true, __builtin_return_address(0));
}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

DIFFBENCH_ATOMIC(8, unsigned char)
DIFFBENCH_ATOMIC(32, unsigned)
DIFFBENCH_ATOMIC(64, unsigned long)

// Copies of the compiler's: a program with such code is linked with --wrap for these.
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  note(from, bytes, false, __builtin_return_address(0));
  note(to, bytes, true, __builtin_return_address(0));
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  note(from, bytes, false, __builtin_return_address(0));
  note(to, bytes, true, __builtin_return_address(0));
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  note(to, bytes, true, __builtin_return_address(0));
  return __real_memset(to, value, bytes);
}
// Clang 15 and later call these instead.
void* __tsan_memcpy(void*, const void*, std::size_t) __attribute__((alias("__wrap_memcpy")));
void* __tsan_memmove(void*, const void*, std::size_t) __attribute__((alias("__wrap_memmove")));
void* __tsan_memset(void*, int, std::size_t) __attribute__((alias("__wrap_memset")));
}
// NOLINTEND
