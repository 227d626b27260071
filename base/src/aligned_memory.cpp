// SPDX-License-Identifier: Apache-2.0
#include "diffbench/aligned_memory.hpp"

#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/mman.h>

namespace diffbench::detail {

namespace {

// The sanitizer sees what lies beyond the end of a field only where its own allocator made it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool mapped = false;
#elif defined(__has_feature)
constexpr bool mapped = !__has_feature(address_sanitizer);
#else
constexpr bool mapped = true;
#endif

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Pages of their own, so that what the allocator keeps of earlier fields has no part in it.
void* map_pages(std::size_t bytes) {
  const std::size_t with_slack = bytes + huge_page;
  void* memory =
      mmap(nullptr, with_slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* const first = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const std::size_t before = rounded_up(address, huge_page) - address;
  if (before > 0) {
    munmap(first, before);
  }
  munmap(first + before + bytes, huge_page - before);
  return first + before;
}

} // namespace

void* allocate_aligned(std::size_t bytes, bool zeroed) {
  const bool huge = bytes >= huge_from;
  const std::size_t rounded = rounded_up(bytes, huge ? huge_page : array_alignment);
  void* memory = nullptr;
  if (rounded >= bytes) {
    memory = huge && mapped ? map_pages(rounded)
                            : std::aligned_alloc(huge ? huge_page : array_alignment, rounded);
  }
  if (memory == nullptr) {
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes; use a smaller problem");
  }
  if (huge) {
    // Advice only: a kernel may refuse.
    madvise(memory, rounded, MADV_HUGEPAGE);
  }
  if (zeroed) {
    std::memset(memory, 0, bytes);
  }
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  if (bytes >= huge_from && mapped) {
    munmap(memory, rounded_up(bytes, huge_page));
  } else {
    std::free(memory);
  }
}

} // namespace diffbench::detail

namespace diffbench {

Stagger stagger_beside(std::size_t row_bytes) {
  constexpr std::size_t period = detail::alias_period;
  const std::size_t row = row_bytes % period;
  std::array<std::size_t, 4> taken{0, std::min(row, period - row), std::max(row, period - row),
                                   period};
  Stagger middle;
  std::size_t widest = 0;
  for (std::size_t i = 1; i < taken.size(); ++i) {
    const std::size_t gap = taken[i] - taken[i - 1];
    if (gap > widest) {
      widest = gap;
      middle.bytes = (taken[i - 1] + gap / 2) / array_alignment * array_alignment;
    }
  }
  return middle;
}

Stagger stagger_of(std::size_t index) { return {index % 8 * (detail::alias_period / 8)}; }

} // namespace diffbench
