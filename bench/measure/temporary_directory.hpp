// SPDX-License-Identifier: Apache-2.0
// A directory that goes away with everything in it, read-only directories too.
#pragma once

#include "diffbench/errors.hpp"

#include <cstdio>
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
    path_ = std::filesystem::canonical(name); // others may look at it when it is gone
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  /// Says on stderr what could not be removed.
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error) { // nothing can be removed from a read-only directory, as Go's cache has them
      make_writable(path_);
      std::filesystem::remove_all(path_, error);
    }
    if (error) {
      std::fprintf(stderr, "diffbench: left behind: %s: %s\n", path_.c_str(),
                   error.message().c_str());
    }
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  /// A directory and those below it, where they are ours; each before it is looked into.
  static void make_writable(const std::filesystem::path& directory) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::permissions(directory, fs::perms::owner_all, fs::perm_options::add, error);
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
        make_writable(entry->path());
      }
    }
  }

  std::filesystem::path path_;
};

} // namespace diffbench::bench
