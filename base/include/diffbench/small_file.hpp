// SPDX-License-Identifier: Apache-2.0
// Files that people write by hand: cards, lessons, descriptions of a code.
#pragma once

#include <filesystem>
#include <string>

namespace diffbench {

/// All of a regular file of at most 1 MiB; nothing else is opened, as a pipe would wait. Throws
/// InvalidInput, which says what is wrong with the file and not its name.
[[nodiscard]] std::string text_of_small_file(const std::filesystem::path& path);

} // namespace diffbench
