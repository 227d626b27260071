// The verbs of the program beside the comparison itself.
//
// To add one: write its own file with a function that declares its options on a CLI::App and
// returns what is to be done once they are parsed, and add a line to the table in subcommand.cpp.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace diffbench::bench {

/// Writes the result to `out` (stdout); hints go to stderr. Returns the exit code.
using Action = std::function<int(std::ostream& out)>;

struct Subcommand {
  std::string_view name;
  std::string_view description; ///< one line
  std::string_view example;
  /// Called before parsing; what it returns is called after it, when this verb was chosen.
  Action (*declare)(CLI::App& app);
};

[[nodiscard]] std::span<const Subcommand> subcommands();

} // namespace diffbench::bench
