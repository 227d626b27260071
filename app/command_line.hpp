// SPDX-License-Identifier: Apache-2.0
// The command line, parsed and checked. Nothing here exits, prints or writes a file, so that tests
// and a fuzzer can call it.
#pragma once

#include "verb.hpp"

#include <span>
#include <string>
#include <variant>

namespace diffbench::bench {

/// Flags that the parser itself knows.
struct CommonFlag {
  const char* name;
  const char* help;
};
inline constexpr CommonFlag help_flag{"-h,--help", "print this and exit"};
inline constexpr CommonFlag quiet_flag{"--quiet",
                                       "only errors on stderr: no progress, hints or warnings"};
inline constexpr CommonFlag wide_flag{"--wide",
                                      "tables with all columns; wide ones are split into blocks"};
/// Of the program, not of its verbs.
inline constexpr CommonFlag version_flag{"-V,--version", "print the version and exit"};

/// What the program's exit codes mean.
inline constexpr const char* exit_codes_text =
    "  0 ok   1 error   2 wrong usage or input   3 a result differs from the reference\n  4 a "
    "backend, device, instruction set or peer asked for by name is not available\n  5 compare "
    "or duel --fail-on found a regression\n  130 interrupted";

/// --help, `help VERB` and --version: text for stdout, exit code 0.
struct Text {
  std::string text;
};

/// A verb with its options read, and the command line that it came from.
struct ParsedVerb {
  Action action;
  std::string command;
  bool on_ranks = false; ///< Verb::on_ranks
  bool quiet = false;    ///< nothing but errors on stderr
};

using ParsedCommand = std::variant<ParsedVerb, Text>;

/// `arguments` without the program's name; `program` is the verb without one, before all others.
/// Throws InvalidInput (a wrong option or value; one line) or Unavailable (a backend asked for by
/// name that this build left out).
[[nodiscard]] ParsedCommand parse_options(std::span<const std::string> arguments,
                                          const Verb& program);

} // namespace diffbench::bench
