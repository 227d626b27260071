// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cache_directory.hpp"

#include <cstdlib>

namespace diffbench {

std::filesystem::path cache_directory() {
  // The XDG Base Directory Specification has relative paths ignored: they would mean another
  // directory for each place that a program is started from.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "diffbench";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".cache" / "diffbench";
  }
  return {};
}

} // namespace diffbench
