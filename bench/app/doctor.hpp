// `diffbench doctor`: what this machine and this build can do, and how to get what is missing.
#pragma once

#include <filesystem>
#include <ostream>

namespace diffbench::bench {

/// Writes the report; facts of the machine are read under `root`. Returns the exit code: 1 when
/// something that the default run needs is missing, else 0.
[[nodiscard]] int run_doctor(std::ostream& out, const std::filesystem::path& root = "/");

} // namespace diffbench::bench
