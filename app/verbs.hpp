// SPDX-License-Identifier: Apache-2.0
// The table of the verbs.
#pragma once

#include "verb.hpp"

namespace diffbench::bench {

/// The comparison, with all other verbs behind it.
[[nodiscard]] const Verb& program();

// Those of this layer.
[[nodiscard]] Action declare_default(OptionList& options);
[[nodiscard]] Action declare_report(OptionList& options);
[[nodiscard]] Action declare_live(OptionList& options);

} // namespace diffbench::bench
