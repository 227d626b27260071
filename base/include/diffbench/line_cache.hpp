// SPDX-License-Identifier: Apache-2.0
// Small things that were measured once and are wanted again by later runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace diffbench {

/// A file of lines "KEY tab TEXT"; the newest line of a key counts. A file that cannot be read is
/// an empty cache. Keys and texts contain no tab and no line break.
class LineCache {
 public:
  /// An empty path is a cache that keeps nothing.
  explicit LineCache(std::filesystem::path file) : file_(std::move(file)) {}
  /// `name` in cache_directory(); keeps nothing where there is none.
  [[nodiscard]] static LineCache standard(std::string_view name);

  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Replaces what was kept under the key. Throws Error when the file cannot be written.
  void store(const std::string& key, const std::string& text) const;

 private:
  std::filesystem::path file_;
};

} // namespace diffbench
