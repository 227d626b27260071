// SPDX-License-Identifier: Apache-2.0
#include "untouched_memory.hpp"

#include "diffbench/errors.hpp"

#include <sys/mman.h>

#include <string>

namespace diffbench::bench {

void* map_pages(std::size_t bytes) {
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) { // NOLINT(performance-no-int-to-ptr): the system's macro
    throw Error("cannot map " + std::to_string(bytes) + " bytes; use a smaller grid");
  }
  return pages;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { ::munmap(pages, bytes); }

} // namespace diffbench::bench
