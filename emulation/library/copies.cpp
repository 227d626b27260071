// SPDX-License-Identifier: Apache-2.0
// What the hooks of a program's copies call (src/race_hooks.cpp), in a library: the program is
// linked with --wrap, and the library is not.
#include <cstring>

// NOLINTBEGIN: the names are the linker's
extern "C" {
void* __real_memcpy(void* to, const void* from, std::size_t bytes) {
  return std::memcpy(to, from, bytes);
}
void* __real_memmove(void* to, const void* from, std::size_t bytes) {
  return std::memmove(to, from, bytes);
}
void* __real_memset(void* to, int value, std::size_t bytes) {
  return std::memset(to, value, bytes);
}
}
// NOLINTEND
