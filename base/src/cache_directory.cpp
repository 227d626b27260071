#include "diffbench/cache_directory.hpp"

#include <cstdlib>

namespace diffbench {

std::filesystem::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "diffbench";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "diffbench";
  }
  return {};
}

} // namespace diffbench
