// SPDX-License-Identifier: Apache-2.0
// A directory that goes away with everything in it.
#pragma once

#include "diffbench/errors.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace diffbench::bench {

class TemporaryDirectory {
 public:
  /// Below $TMPDIR or /tmp. Throws Error.
  TemporaryDirectory() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "diffbench-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      throw Error("cannot make a directory in TMPDIR; set TMPDIR to one that can be written");
    }
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

} // namespace diffbench::bench
