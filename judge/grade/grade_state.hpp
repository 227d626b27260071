// SPDX-License-Identifier: Apache-2.0
// What was graded, kept line by line: a run that was ended goes on where it was, and what has not
// changed since is not tried again.
#pragma once

#include "graded.hpp"
#include "line_file.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace diffbench::bench {

class GradeState {
 public:
  /// Of no file: nothing is kept.
  GradeState() = default;
  /// Throws what LineFile throws, also where another process grades into it, and InvalidInput for a
  /// file that holds something else.
  explicit GradeState(const std::filesystem::path& path);

  /// By what digest_of() gives; nullptr where there is none.
  [[nodiscard]] const Graded* find(const std::string& digest) const;
  /// Returns when it is on the disk. Throws Error.
  void keep(const std::string& digest, const Graded& graded);

 private:
  std::optional<LineFile> file_;
  std::map<std::string, Graded> known_;
};

} // namespace diffbench::bench
