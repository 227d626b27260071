// SPDX-License-Identifier: Apache-2.0
// What this program is called.
#pragma once

#include <string>

namespace diffbench::bench {

/// "diffbench 1.2.3 (commit)".
[[nodiscard]] std::string version_text();

} // namespace diffbench::bench
