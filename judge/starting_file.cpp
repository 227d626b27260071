// SPDX-License-Identifier: Apache-2.0
#include "starting_file.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/text.hpp"
#include "submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

struct WrittenFile {
  std::string_view name, text;
};
constexpr WrittenFile starting_files[] = {
#include "starting.inc"
};
/// By number, from 1.
constexpr WrittenFile exercises[] = {
#include "exercises.inc"
};

/// "cpp" of "3-cpp.cpp".
std::string_view kind_of(const WrittenFile& file) {
  constexpr std::size_t number = 2;
  return file.name.substr(number, file.name.find('.') - number);
}

/// In its text "diffbench try FILE" stands for the command with the file's name.
void write_new_file(const std::filesystem::path& path, const WrittenFile& file) {
  if (std::filesystem::exists(path)) {
    throw InvalidInput(fmt::format("{} is there already; choose another name", path.string()));
  }
  std::string text(file.text);
  constexpr std::string_view place = "diffbench try FILE";
  text.replace(text.find(place), place.size(),
               fmt::format("diffbench try {}", one_line(path.filename().string())));
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

} // namespace

std::vector<std::string> starting_kinds() {
  std::vector<std::string> kinds;
  std::ranges::transform(starting_files, std::back_inserter(kinds),
                         [](const WrittenFile& file) { return std::string(kind_of(file)); });
  return kinds;
}

void write_starting_file(std::string_view kind, const std::filesystem::path& path) {
  const auto* file = std::ranges::find(starting_files, kind, kind_of);
  if (file == std::end(starting_files)) {
    throw unknown_name("kind of file", kind, starting_kinds());
  }
  if (const Language language = language_of(file->name); known_language(path) != language) {
    throw InvalidInput(
        fmt::format("--new {} writes {}: {} would be taken for another language; the "
                    "name is to end with {}",
                    kind, to_string(language), path.filename().string(),
                    file->name.substr(file->name.find('.'))));
  }
  write_new_file(path, *file);
}

std::size_t exercise_count() { return std::size(exercises); }

std::string exercise_list() {
  std::string list;
  for (const WrittenFile& exercise : exercises) {
    // The first line of each: "// Exercise 1, boundary: ..."
    const std::size_t about = exercise.text.find(", ") + 2;
    list += fmt::format("{:>3}  {}\n", &exercise - exercises + 1,
                        exercise.text.substr(about, exercise.text.find('\n') - about));
  }
  return list + "\ndiffbench try --exercise 1 writes the first of them.\n";
}

std::string exercise_file_name(std::size_t number) {
  return std::string(exercises[number - 1].name);
}

void write_exercise(std::size_t number, const std::filesystem::path& path) {
  if (language_of(path) != Language::cuda) {
    throw InvalidInput(fmt::format("{}: an exercise is a .cu file", path.string()));
  }
  write_new_file(path, exercises[number - 1]);
}

} // namespace diffbench::bench
