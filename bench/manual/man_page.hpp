// SPDX-License-Identifier: Apache-2.0
// A page for man(1), of a verb or of the program.
#pragma once

#include "verb_manual.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

/// The page diffbench-mlp-train(1) of `verb`, in man(7) macros. `manual` is all that there is: the
/// page names the verbs behind it and the one before it.
[[nodiscard]] std::string man_page(const VerbManual& verb, const std::vector<VerbManual>& manual);

} // namespace diffbench::bench
