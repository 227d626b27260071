// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

#include "build_info.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

std::string version_text() {
  return fmt::format("diffbench {} ({})", build_info::version, build_info::git_sha);
}

} // namespace diffbench::bench
