// SPDX-License-Identifier: Apache-2.0
// Linked to a submission that is built for races, in the place of the thread sanitizer's library:
// what the compiler calls before each access to memory (LLVM, tsan_interface.h; GCC has the same)
// gives the CPU away or waits, by chance. A right program gives the same bits, on one CPU as well.
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static void interleave(void) {
  static unsigned threads;
  static _Thread_local unsigned chance;
  const struct timespec pause = {0, 20000};
  if (chance == 0) {
    chance = 2654435761u * __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) | 1;
  }
  chance ^= chance << 13;
  chance ^= chance >> 17;
  chance ^= chance << 5;
  if (chance % 1024 == 0) {
    nanosleep(&pause, NULL);
  } else if (chance % 8 == 0) {
    sched_yield();
  }
}

#define NOTED(name) \
  void __tsan_##name(void* address) { interleave(); }
#define ACCESS(n) \
  NOTED(read##n)  \
  NOTED(write##n) NOTED(unaligned_read##n) NOTED(unaligned_write##n) NOTED(read_write##n)
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
NOTED(func_entry)
NOTED(vptr_read)
void __tsan_init(void) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void* address, void* value) {}
void __tsan_read_range(void* address, size_t bytes) { interleave(); }
void __tsan_write_range(void* address, size_t bytes) { interleave(); }
void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, size_t bytes) { return memmove(to, from, bytes); }
void* __tsan_memset(void* to, int value, size_t bytes) { return memset(to, value, bytes); }
void __tsan_atomic_thread_fence(int order) { __atomic_thread_fence(5); }
void __tsan_atomic_signal_fence(int order) {}

#define FETCH(bits, T, name)                                       \
  T __tsan_atomic##bits##_fetch_##name(T* a, T value, int order) { \
    interleave();                                                  \
    return __atomic_fetch_##name(a, value, 5);                     \
  }
#define SWAP(bits, T, name)                                                                        \
  int __tsan_atomic##bits##_compare_exchange_##name(T* a, T* old, T value, int order, int fails) { \
    interleave();                                                                                  \
    return __atomic_compare_exchange_n(a, old, value, 0, 5, 5);                                    \
  }
#define ATOMIC(bits, T)                                        \
  T __tsan_atomic##bits##_load(T* a, int order) {              \
    interleave();                                              \
    return __atomic_load_n(a, 5);                              \
  }                                                            \
  void __tsan_atomic##bits##_store(T* a, T value, int order) { \
    interleave();                                              \
    __atomic_store_n(a, value, 5);                             \
  }                                                            \
  T __tsan_atomic##bits##_exchange(T* a, T value, int order) { \
    return __atomic_exchange_n(a, value, 5);                   \
  }                                                            \
  FETCH(bits, T, add)                                          \
  FETCH(bits, T, sub)                                          \
  FETCH(bits, T, and)                                          \
  FETCH(bits, T, or) FETCH(bits, T, xor) SWAP(bits, T, strong) SWAP(bits, T, weak)
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned)
ATOMIC(64, unsigned long)
