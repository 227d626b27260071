// SPDX-License-Identifier: Apache-2.0
// The system's compilers, for users' files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// How a file is compiled; empty: as usual.
struct CompilerChoice {
  std::string compiler; ///< a program
  std::string flags;    ///< words with spaces between, in place of the usual ones
  /// What a file may include besides itself and the system's; none: anything.
  std::optional<std::vector<std::filesystem::path>> own_files = {};
};

/// A command's exit status, and what it wrote to stderr, whole.
struct Said {
  int status = 0;
  std::string text;
};

/// Blocks for a minute at most. Writes into `work_dir`. Throws InvalidInput for a command that
/// takes longer, and Error for one that cannot be started.
[[nodiscard]] Said run_command(std::vector<std::string> command,
                               const std::filesystem::path& work_dir);

/// The chosen one, else the first of the usual ones that is there. Throws Unavailable, with the
/// package that brings one.
[[nodiscard]] std::string find_c_compiler(const std::string& chosen);
[[nodiscard]] std::string find_cpp_compiler(const std::string& chosen);

/// The compiler's first line that tells of an error, with the file's name in place of its path.
[[nodiscard]] std::string first_error(const std::string& text, const std::filesystem::path& file);

} // namespace diffbench::bench
