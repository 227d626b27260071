// SPDX-License-Identifier: Apache-2.0
// The submissions of a class: a folder with a file, or a folder with one file or a CUDA program,
// for each student.
#pragma once

#include "submission.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct Submitted {
  std::string name = {};           ///< "ann.cu", "bob/port.cu", or "eve" of a folder without one
  std::filesystem::path file = {}; ///< that is tried; empty: see `problem`
  std::optional<Language> language = {};         ///< empty: no file
  std::string problem = {};                      ///< why no file can be tried
  std::vector<std::filesystem::path> parts = {}; ///< what its result depends on, `file` first
  /// The files of a whole CUDA program, that with main() first; empty: it is none.
  std::vector<std::filesystem::path> program = {};
};

struct ClassFolder {
  std::vector<Submitted> submitted;  ///< by name
  std::vector<std::string> left_out; ///< files of other kinds
};

/// Looks at the folder and those in it, where deeper ones may hold headers, and not at what begins
/// with a point or two underscores. Throws InvalidInput where it cannot be read, or has no
/// submission.
[[nodiscard]] ClassFolder class_folder(const std::filesystem::path& folder);

} // namespace diffbench::bench
