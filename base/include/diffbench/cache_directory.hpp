// SPDX-License-Identifier: Apache-2.0
// Where the program keeps what it has measured or fetched from one run to the next.
#pragma once

#include <filesystem>

namespace diffbench {

/// $XDG_CACHE_HOME/diffbench, else ~/.cache/diffbench; empty where neither variable is set. It need
/// not exist. (XDG Base Directory Specification.)
[[nodiscard]] std::filesystem::path cache_directory();

} // namespace diffbench
