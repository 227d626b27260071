// SPDX-License-Identifier: Apache-2.0
// The report page that the build made of viz/ and put into the program.
#pragma once

#include <string_view>

namespace diffbench::bench {

/// The page in two parts; the data goes between them.
struct Page {
  std::string_view head, tail;
};

/// Throws Unavailable (why, and what to install) where the build could not make one.
[[nodiscard]] Page report_page();

} // namespace diffbench::bench
