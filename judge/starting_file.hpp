// SPDX-License-Identifier: Apache-2.0
// Files that the program writes for a user: short ones that are right, to start from (starting/),
// and ports to CUDA with a fault each, to be found and mended (exercises/).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

[[nodiscard]] std::vector<std::string> starting_kinds();
/// Throws InvalidInput for an unknown kind, where there is such a file already or its name ends as
/// that of another language, and Error where it cannot be written.
void write_starting_file(std::string_view kind, const std::filesystem::path& path);

[[nodiscard]] std::size_t exercise_count();
/// A line for each: its number, from 1 on, and what it is about.
[[nodiscard]] std::string exercise_list();
/// "01-boundary.cu" of 1. Of a number that there is, as below.
[[nodiscard]] std::string exercise_file_name(std::size_t number);
/// Throws as write_starting_file() does.
void write_exercise(std::size_t number, const std::filesystem::path& path);

} // namespace diffbench::bench
