#include "diffbench/field.hpp"

#include "diffbench/errors.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/mman.h>

namespace diffbench::detail {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Fields from so many bytes on lie in huge pages. One is contiguous memory of the machine; of
/// which small pages a field is made decides how they share the sets of L2, and made one of two
/// equal sessions up to 8 % slower than the other (diffbench selftest). It also takes one TLB entry
/// for 2 MiB instead of 4 KiB.
constexpr std::size_t huge_from = huge_page / 8;
} // namespace

void* allocate_aligned(std::size_t bytes, bool zeroed) {
  const std::size_t alignment = bytes >= huge_from ? huge_page : field_alignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) {
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes; use a smaller grid");
  }
  if (alignment == huge_page) {
    // Advice only: a kernel may refuse.
    madvise(memory, rounded, MADV_HUGEPAGE);
  }
  if (zeroed) {
    std::memset(memory, 0, bytes);
  }
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

} // namespace diffbench::detail
