// SPDX-License-Identifier: Apache-2.0
// A command as it is typed, as the words that a program is started with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// As a POSIX shell splits a simple command: at blanks, with '...', "..." and \ (POSIX.1, Shell
/// Command Language, 2.2). Throws InvalidInput for quotes that do not end, for no words, and for
/// what only a shell can do: pipes, redirections, variables, patterns, several commands.
[[nodiscard]] std::vector<std::string> command_words(std::string_view command);

/// The same of arguments, such as a compiler's, which no shell sees: all but quotes and \ stand for
/// themselves. Throws InvalidInput for quotes that do not end.
[[nodiscard]] std::vector<std::string> argument_words(std::string_view arguments);

} // namespace diffbench::bench
