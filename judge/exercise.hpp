// SPDX-License-Identifier: Apache-2.0
// Exercises: ports to CUDA with a fault each, to be found and mended. The files in exercises/ are
// in the program.
#pragma once

#include "option_list.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace diffbench::bench {

/// --exercise [N]: sets `number` from 1 on, or to 0 where no number was typed.
void declare_exercise(OptionList& options, std::optional<std::size_t>& number);

[[nodiscard]] std::size_t exercise_count();
/// A line for each: its number, and what it is about.
[[nodiscard]] std::string exercise_list();
/// "01-boundary.cu" of 1. Of a number that there is, as below.
[[nodiscard]] std::string exercise_file_name(std::size_t number);
/// Throws InvalidInput where there is such a file already or it is none of CUDA's, and Error where
/// it cannot be written.
void write_exercise(std::size_t number, const std::filesystem::path& path);

} // namespace diffbench::bench
