// SPDX-License-Identifier: Apache-2.0
// `diffbench pitfalls --assume CARD`: what the mistakes that need a GPU would read on one that is
// not here.
#pragma once

#include "assumed_card.hpp"
#include "pitfall.hpp"

#include <span>
#include <string_view>

namespace diffbench::bench {

/// Whether a card's figures say what that mistake would read: not of all that need a GPU.
[[nodiscard]] bool is_assumable(std::string_view pitfall);

/// Adds those of `chosen` to a report, whose rows have what was measured; where that was on such a
/// card, the assumption's error against it instead. `problem` is that of all of them.
void append_assumed_pitfalls(LabReport& report, const AssumedCard& card,
                             std::span<const Pitfall> chosen, const Problem& problem);

} // namespace diffbench::bench
