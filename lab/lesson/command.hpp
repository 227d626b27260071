// SPDX-License-Identifier: Apache-2.0
// A command of a lesson: this very program, started as its user would.
#pragma once

#include <string>
#include <vector>

namespace diffbench::bench::lesson {

/// Runs this program with `arguments`; its stdout and stderr are ours, its stdin is empty. Waits
/// for its end, and passes an interrupt on to it. The exit code, 128 + n after signal n; throws
/// Error when it cannot be started.
[[nodiscard]] int run_here(const std::vector<std::string>& arguments);

} // namespace diffbench::bench::lesson
