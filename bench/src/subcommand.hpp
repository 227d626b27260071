// The verbs of the program beside the comparison itself.
//
// To add one: write its own file with a function that declares its options on a CLI::App and
// returns what is to be done once they are parsed, and add a line to the table in subcommand.cpp.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace diffbench::bench {

/// How a verb was called.
struct Invocation {
  std::ostream& out;   ///< stdout: the result
  std::ostream& err;   ///< stderr: progress, hints, warnings
  std::string command; ///< the whole command line
};

/// Does what the verb is for. Returns the exit code; throws as run_comparison() does.
using Action = std::function<int(const Invocation&)>;

struct Subcommand {
  std::string_view name;
  std::string_view description; ///< one line
  std::string_view example;
  /// Called before parsing; what it returns is called after it, when this verb was chosen.
  Action (*declare)(CLI::App& app) = nullptr;
  /// Instead: the verbs that stand behind this one, as `train` behind `mlp`.
  std::span<const Subcommand> (*verbs)() = nullptr;
};

[[nodiscard]] std::span<const Subcommand> subcommands();

} // namespace diffbench::bench
