// SPDX-License-Identifier: Apache-2.0
// The verbs of the program; the comparison is that without a name.
//
// To add one: write a folder of lab/ with a function that declares its options and returns what is
// to be done once they are read, and add a line to the table in app/verbs.cpp.
#pragma once

#include "diffbench/cluster/ranks.hpp"

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {

class OptionList;

/// How a verb was called.
struct Invocation {
  std::ostream& out;               ///< stdout: the result
  std::ostream& err;               ///< stderr: progress, hints, warnings
  std::string command;             ///< the whole command line
  cluster::Ranks* ranks = nullptr; ///< those of a launcher such as mpirun; null without one
  bool quiet = false;              ///< --quiet: nothing but errors on stderr
};

/// Does what the verb is for. Returns the exit code; throws as run_comparison() does.
using Action = std::function<int(const Invocation&)>;

struct Verb {
  std::string_view name;
  std::string_view description; ///< one line
  std::string_view example;     ///< what the help ends with
  /// Called before parsing; what it returns is called after it, when this verb was chosen.
  Action (*declare)(OptionList& options) = nullptr;
  std::string_view group = "Verbs"; ///< of the verbs in the help above it
  /// The verbs that stand behind this one, as `train` behind `mlp`.
  std::span<const Verb> (*verbs)() = nullptr;
  bool on_ranks = false; ///< knows what to do with several ranks of a launcher
};

} // namespace diffbench::bench
