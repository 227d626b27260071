// SPDX-License-Identifier: Apache-2.0
// A file of lines that only grows: each is written whole, under a lock, and is on the disk before
// append() returns. A line that was cut off all the same, by a kill or a full disk, ends where the
// next one begins.
#pragma once

#include "process.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// All lines of a file, without their ends, and what was cut off. Throws Error where it cannot be
/// read; `option` stands in messages.
[[nodiscard]] std::vector<std::string> lines_of_file(std::string_view option,
                                                     const std::filesystem::path& path);

class LineFile {
 public:
  enum class Sharing {
    waits,  ///< until whoever writes to it has closed it, for some seconds
    refuses ///< where somebody has it open
  };
  /// Opens it, or makes it where it is not there. `option` stands in messages: "--history". Throws
  /// InvalidInput for what is no regular file, and Error where it cannot be opened or is refused.
  /// Waiting ends with Error after `longest_wait`, and half a second after Ctrl-C with Interrupted.
  LineFile(std::string option, std::filesystem::path path, Sharing sharing,
           std::chrono::duration<double> longest_wait = std::chrono::seconds(10));

  /// See lines_of_file().
  [[nodiscard]] std::vector<std::string> lines() const { return lines_of_file(option_, path_); }
  /// Whether a line was cut off at its end.
  [[nodiscard]] bool ends_within_a_line() const;
  /// Throws Error.
  void drop_last(std::size_t bytes);
  /// `lines`, each with its end. Throws Error.
  void append(std::string_view lines);

 private:
  void lock(Sharing sharing, std::chrono::duration<double> longest_wait) const;
  [[noreturn]] void fail(const char* what) const;

  std::string option_;
  std::filesystem::path path_;
  FileDescriptor file_;
};

} // namespace diffbench::bench
