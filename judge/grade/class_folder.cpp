// SPDX-License-Identifier: Apache-2.0
#include "class_folder.hpp"

#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

/// By name, without hidden ones and caches.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && !name.starts_with("__")) {
      entries.push_back(*entry);
    }
  }
  if (error) {
    throw InvalidInput(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  }
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path(); });
  return entries;
}

bool is_file(const fs::directory_entry& entry) {
  std::error_code unknown; // of a link to itself, for one
  return entry.is_regular_file(unknown);
}

/// No link to one, which may lead anywhere.
bool is_folder(const fs::directory_entry& entry) {
  std::error_code unknown;
  return !entry.is_symlink(unknown) && entry.is_directory(unknown);
}

bool is_header(const fs::path& path) {
  const std::string end = path.extension().string();
  return end == ".h" || end == ".hpp" || end == ".cuh" || end == ".inc";
}

/// Sources in folders of a student's folder. What else lies there is not looked at.
void add_deeper(const fs::path& folder, std::vector<fs::path>& parts) {
  for (const fs::directory_entry& entry : entries_of(folder)) {
    if (is_folder(entry)) {
      add_deeper(entry.path(), parts);
    } else if (is_file(entry) && (is_header(entry.path()) || known_language(entry.path()))) {
      parts.push_back(entry.path());
    }
  }
}

/// Whether a link, or one before it, leads out of the folder.
bool leads_out(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  const fs::path from = fs::weakly_canonical(folder, ignored);
  const fs::path to = fs::weakly_canonical(path, ignored);
  return std::ranges::mismatch(from, to).in1 != from.end();
}

/// Of files in CUDA and C++, one of which has main(): these, with that one first.
std::vector<fs::path> program_of(std::vector<fs::path> files) {
  const auto count = [&files](Language language) {
    return std::ranges::count(files, std::optional(language), known_language);
  };
  if (count(Language::cuda) == 0 ||
      count(Language::cuda) + count(Language::cpp) != std::ssize(files) ||
      std::ranges::count_if(files, has_main) != 1) {
    return {};
  }
  std::ranges::stable_partition(files, has_main);
  return files;
}

/// A student's folder.
Submitted submitted_in(const fs::path& folder) {
  Submitted submitted;
  submitted.name = folder.filename().string();
  std::vector<fs::path> tried;
  try {
    for (const fs::directory_entry& entry : entries_of(folder)) {
      if (is_file(entry)) {
        submitted.parts.push_back(entry.path());
        if (known_language(entry.path())) {
          tried.push_back(entry.path());
        }
      } else if (is_folder(entry)) {
        add_deeper(entry.path(), submitted.parts);
      }
    }
  } catch (const InvalidInput& error) {
    submitted.problem = error.what();
    return submitted;
  }
  const auto out = std::ranges::find_if(
      submitted.parts, [&folder](const fs::path& part) { return leads_out(part, folder); });
  if (out != submitted.parts.end()) {
    submitted.problem =
        fmt::format("{} is a link to a file outside of the folder", out->filename().string());
    submitted.parts.clear();
    return submitted;
  }
  submitted.program = program_of(tried);
  if (tried.size() == 1 || !submitted.program.empty()) {
    submitted.file = submitted.program.empty() ? tried.front() : submitted.program.front();
    submitted.language =
        submitted.program.empty() ? known_language(submitted.file) : Language::cuda;
    submitted.name += "/" + submitted.file.filename().string();
    std::stable_partition(submitted.parts.begin(), submitted.parts.end(),
                          [&](const fs::path& part) { return part == submitted.file; });
  } else if (tried.empty()) {
    submitted.problem = "the folder has no .c, .cpp, .cu, .py or .so file";
  } else {
    std::vector<std::string> names;
    std::ranges::transform(tried, std::back_inserter(names),
                           [](const fs::path& path) { return path.filename().string(); });
    submitted.problem = fmt::format("the folder has {} files that could be tried: {}", names.size(),
                                    fmt::join(names, ", "));
  }
  return submitted;
}

} // namespace

ClassFolder class_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InvalidInput(fmt::format("{}: there is no such folder", folder.string()));
  }
  ClassFolder found;
  std::vector<fs::path> headers;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    const auto language = known_language(entry.path());
    if (entry.is_symlink(ignored) && (language || entry.is_directory(ignored))) {
      found.submitted.push_back(
          {.name = entry.path().filename().string(),
           .problem = "it is a link; what is graded lies in the class folder"});
    } else if (is_folder(entry)) {
      found.submitted.push_back(submitted_in(entry.path()));
    } else if (is_file(entry) && language) {
      found.submitted.push_back({.name = entry.path().filename().string(),
                                 .file = entry.path(),
                                 .language = language,
                                 .parts = {entry.path()},
                                 .program = program_of({entry.path()})});
    } else if (is_file(entry) && is_header(entry.path())) {
      headers.push_back(entry.path());
    } else {
      found.left_out.push_back(entry.path().filename().string());
    }
  }
  for (Submitted& submitted : found.submitted) {
    submitted.parts.insert(submitted.parts.end(), headers.begin(), headers.end());
  }
  if (found.submitted.empty()) {
    throw InvalidInput(fmt::format(
        "{}: no submission is there: neither .c, .cpp, .cu, .py or .so files nor folders",
        folder.string()));
  }
  return found;
}

} // namespace diffbench::bench
