// SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

// The assembler puts the file into the program: a megabyte as an array of C++ takes a compiler
// seconds and gigabytes. GNU as and Clang's take the same words.
asm(".section .rodata\n"
    ".global diffbench_page_begin\n"
    "diffbench_page_begin:\n"
    ".incbin \"" DIFFBENCH_PAGE_FILE
    "\"\n"
    ".global diffbench_page_end\n"
    "diffbench_page_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,modernize-avoid-c-arrays)
extern const char diffbench_page_begin[];
extern const char diffbench_page_end[];
// NOLINTEND(readability-identifier-naming,modernize-avoid-c-arrays)
}

namespace diffbench::bench {

Page report_page() {
  constexpr std::string_view place = "<!--diffbench-results-->";
  const std::string_view page(diffbench_page_begin, diffbench_page_end);
  const std::size_t at = page.find(place);
  if (at == std::string_view::npos) { // a line that says why there is no page
    throw Unavailable(fmt::format("this build has no report page: {}", page));
  }
  return {.head = page.substr(0, at), .tail = page.substr(at + place.size())};
}

} // namespace diffbench::bench
