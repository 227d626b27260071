// SPDX-License-Identifier: Apache-2.0
// What the targets that read files share: a file in memory, and the promises that all readers make.
#pragma once

#include "diffbench/errors.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace diffbench::fuzz {

inline void require(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
  }
}

inline void require_printable(const InvalidInput& error) {
  const std::string_view message = error.what();
  if (message.size() >= 500 ||
      !std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; })) {
    std::fprintf(stderr, "%s\n", error.what());
    require(false, "a message is one short printable line");
  }
}

/// A file in memory with a path, as the readers want one.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(file_ >= 0, "memfd_create works");
    require(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the file takes the bytes");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(file_);
  }

 private:
  int file_;
};

} // namespace diffbench::fuzz
