// SPDX-License-Identifier: Apache-2.0
// What a shell offers while a command line is typed: verbs, options, and the values of those that
// choose among names. Where nothing is offered the shell offers files.
#pragma once

#include "verb.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// The first argument of a program that is asked by a completion (packaging/completion.*).
inline constexpr std::string_view complete_argument = "--complete";

/// What the last of `words` may become, as bash splits a command line into them.
[[nodiscard]] std::vector<std::string> completions(std::span<const std::string> words,
                                                   const Verb& program);

} // namespace diffbench::bench
