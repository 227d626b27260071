// SPDX-License-Identifier: Apache-2.0
#include "exercise.hpp"

#include "diffbench/errors.hpp"
#include "starting_file.hpp"
#include "submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace diffbench::bench {

namespace {

struct Exercise {
  std::string_view name, text;
};

/// By number, from 1.
constexpr Exercise all_exercises[] = {
#include "exercises.inc"
};

const Exercise& exercise(std::size_t number) { return all_exercises[number - 1]; }

} // namespace

void declare_exercise(OptionList& options, std::optional<std::size_t>& number) {
  constexpr Limits limits{1, std::ssize(all_exercises)};
  options.value(
      "--exercise [N]",
      described("writes FILE, a port with a fault to mend; without N a list of them",
                to_string(limits), ""),
      [&number, limits](std::string_view option, const std::string& text) {
        number = text.empty() ? 0 : static_cast<std::size_t>(parse_integer(option, text, limits));
      });
  options.value_may_lack();
}

std::size_t exercise_count() { return std::size(all_exercises); }

std::string exercise_list() {
  std::string list;
  for (std::size_t number = 1; number <= std::size(all_exercises); ++number) {
    // The first line of each: "// Exercise 1, boundary: ..."
    const std::string_view text = exercise(number).text;
    const std::size_t about = text.find(", ") + 2;
    list += fmt::format("{:>3}  {}\n", number, text.substr(about, text.find('\n') - about));
  }
  return list + "\ndiffbench try --exercise 1 writes the first of them.\n";
}

std::string exercise_file_name(std::size_t number) { return std::string(exercise(number).name); }

void write_exercise(std::size_t number, const std::filesystem::path& path) {
  if (language_of(path) != Language::cuda) {
    throw InvalidInput(fmt::format("{}: an exercise is a .cu file", path.string()));
  }
  write_new_file(path, std::string(exercise(number).text));
}

} // namespace diffbench::bench
