// SPDX-License-Identifier: Apache-2.0
#include "diffbench/line_cache.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/cache_directory.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/small_file.hpp"

#include <cstddef>
#include <deque>
#include <sstream>
#include <utility>

namespace diffbench {

LineCache LineCache::standard(std::string_view name) {
  const std::filesystem::path directory = cache_directory();
  return LineCache(directory.empty() ? directory : directory / name);
}

namespace {

/// Nothing where there is no file, or none that we have written: a pipe would be waited for.
std::istringstream kept_in(const std::filesystem::path& file) {
  try {
    return std::istringstream(text_of_small_file(file));
  } catch (const InvalidInput&) {
    return {};
  }
}

} // namespace

std::optional<std::string> LineCache::find(const std::string& key) const {
  std::istringstream file = kept_in(file_);
  std::optional<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + '\t')) {
      found = line.substr(key.size() + 1);
    }
  }
  return found;
}

void LineCache::store(const std::string& key, const std::string& text) const {
  if (file_.empty()) {
    return;
  }
  constexpr std::size_t most_lines = 300; // of builds that are gone, too
  std::deque<std::string> lines;
  std::istringstream old = kept_in(file_);
  for (std::string line; std::getline(old, line);) {
    if (!line.starts_with(key + '\t')) {
      lines.push_back(std::move(line));
    }
    if (lines.size() == most_lines) {
      lines.pop_front();
    }
  }
  std::string kept;
  for (const std::string& line : lines) {
    kept += line + '\n';
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(error.what());
  }
  write_atomically(file_, [&](std::ostream& out) { out << kept << key << '\t' << text << '\n'; });
}

} // namespace diffbench
