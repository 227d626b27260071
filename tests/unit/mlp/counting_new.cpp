// SPDX-License-Identifier: Apache-2.0
// Replaces operator new by one that counts. A file of its own: where the compiler sees both it
// knows better and complains.
#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> calls = 0;
} // namespace

long allocations();
long allocations() { return calls; }

void* operator new(std::size_t size) {
  ++calls;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
