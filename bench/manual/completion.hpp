// SPDX-License-Identifier: Apache-2.0
// What a shell offers while a command line is typed: verbs, options, and the values of those that
// choose among names. A file's name is left to the shell.
#pragma once

#include "verb_manual.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// A script for bash 4.4 or later; it needs nothing of the package bash-completion.
[[nodiscard]] std::string bash_completion(const std::vector<VerbManual>& manual);
/// The function _diffbench for zsh's compinit.
[[nodiscard]] std::string zsh_completion(const std::vector<VerbManual>& manual);

} // namespace diffbench::bench
