// SPDX-License-Identifier: Apache-2.0
// What a submission includes: its own files, the system's, or somebody else's.
#pragma once

#include "host_compiler.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace diffbench::bench {

/// All of a file; empty where it cannot be read.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& path);

/// For run_confined(): what `command` looks through and names, and the files that `choice` lets
/// `file` include: without a choice all that lies in its folder. Asks the compiler, which blocks
/// for a minute at most. `language` is one of its -x.
[[nodiscard]] std::vector<std::filesystem::path> readable_files(
    const std::vector<std::string>& command, const std::string& language,
    const std::filesystem::path& work_dir, const CompilerChoice& choice,
    const std::filesystem::path& file);

/// What a compiler is told to leave a list of the files that it reads.
[[nodiscard]] std::vector<std::string> listing_flags(const std::filesystem::path& work_dir);

/// Of that list, after it has run as `command` with those flags: the files that lie neither in
/// `work_dir` nor where `command` looks for headers. Those are the user's, `file` among them.
/// `command` is without the folders that are the user's; it is asked where it looks, which blocks
/// for a minute at most. `language` is one of its -x. Throws what run_command() throws.
[[nodiscard]] std::vector<std::filesystem::path> files_of_the_user(
    std::vector<std::string> command, const std::string& language,
    const std::filesystem::path& work_dir);

/// Throws InvalidInput for one that `choice` does not let `file` include.
void refuse_foreign_files(const std::vector<std::filesystem::path>& files,
                          const CompilerChoice& choice, const std::filesystem::path& file);

} // namespace diffbench::bench
