// SPDX-License-Identifier: Apache-2.0
// The order of the rows of a comparison that ran until it was decided: each row beside the next
// one.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <optional>
#include <string>

namespace diffbench::bench {

/// The table, after an empty line; empty where the run did not ask for an order, or has fewer than
/// two rows with a time. Verdicts only where nothing disturbed the run.
[[nodiscard]] std::string format_order(const ComparisonResult& result);
/// The same for programs; null where it was not asked for.
[[nodiscard]] Value order_json(const ComparisonResult& result);
/// What is not decided, and what would decide it; empty where all is.
[[nodiscard]] std::optional<std::string> order_note(const ComparisonResult& result);

} // namespace diffbench::bench
