// SPDX-License-Identifier: Apache-2.0
// Files to start from: short ones that are right.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

[[nodiscard]] std::vector<std::string> starting_kinds();

/// Throws InvalidInput for an unknown kind and where there is such a file already, and Error where
/// it cannot be written.
void write_starting_file(std::string_view kind, const std::filesystem::path& path);

/// The same of a text in which "diffbench try FILE" stands for the command with the file's name.
void write_new_file(const std::filesystem::path& path, std::string text);

} // namespace diffbench::bench
