// SPDX-License-Identifier: Apache-2.0
// CSV without its last column, the version that wrote it.
#pragma once

#include "build_info.hpp"
#include "columns.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace diffbench::bench {

inline std::string unmarked_csv(const Value& objects) {
  std::string text = csv_of(objects);
  const std::string version = fmt::format(",{}\n", build_info::version);
  for (const std::string_view mark :
       {std::string_view(",diffbench_version\n"), std::string_view(version)}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos;) {
      text.replace(at, mark.size(), "\n");
    }
  }
  return text;
}

} // namespace diffbench::bench
