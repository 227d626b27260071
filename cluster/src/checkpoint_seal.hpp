// SPDX-License-Identifier: Apache-2.0
// The seal of a checkpoint: a line behind its cells with the length and a digest of all bytes
// before it. One digest so covers the cells and everything that is said of them: problem, step,
// version.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace diffbench::cluster {

/// An open file; the name may meanwhile be another one's.
class ReadFile {
 public:
  ReadFile() = default;
  /// Throws Error, without the name, for what is no regular file that can be read.
  explicit ReadFile(const std::filesystem::path& path);
  ReadFile(ReadFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ReadFile& operator=(ReadFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;
  ~ReadFile();

  [[nodiscard]] std::int64_t bytes() const;
  /// Fewer than asked for only at the end of the file. Throws Error.
  [[nodiscard]] std::string read(std::int64_t offset, std::int64_t bytes) const;
  /// All of them. Throws Error.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;

 private:
  [[nodiscard]] std::size_t read_some(std::int64_t offset, std::span<std::byte> bytes) const;

  int file_ = -1;
};

inline constexpr std::int64_t seal_bytes = 104;

/// How much of a file a rank reads or writes between two agreements.
inline constexpr std::int64_t file_piece = std::int64_t{64} << 20;

/// Collective: the seal of the file at `path`, for its end. Throws Error on all ranks.
[[nodiscard]] std::string seal_of(Transport* transport, const std::filesystem::path& path);

/// Collective: opens the checkpoint on all ranks, all the same one, and checks its seal. Throws
/// InvalidInput, on all ranks, naming the file.
[[nodiscard]] ReadFile open_sealed(Transport* transport, const std::filesystem::path& path);

} // namespace diffbench::cluster
