// The command line, parsed and checked. Nothing here exits, prints or writes a file, so that tests
// and a fuzzer can call it.
#pragma once

#include "verb.hpp"

#include <span>
#include <string>
#include <variant>

namespace diffbench::bench {

/// --help, `help VERB` and --version: text for stdout, exit code 0.
struct Text {
  std::string text;
};

/// A verb with its options read, and the command line that it came from.
struct Verb {
  Action action;
  std::string command;
  bool on_ranks = false; ///< Subcommand::on_ranks
  bool quiet = false;    ///< nothing but errors on stderr
};

using ParsedCommand = std::variant<Verb, Text>;

/// `arguments` without the program's name; `program` is the verb without one, before all others.
/// Throws InvalidInput (a wrong option or value; one line) or Unavailable (a backend asked for by
/// name that this build left out).
[[nodiscard]] ParsedCommand parse_options(std::span<const std::string> arguments,
                                          const Subcommand& program);

} // namespace diffbench::bench
