// SPDX-License-Identifier: Apache-2.0
// What a run pays for denormal numbers: how many cells of its field are such, and how much longer a
// loop as a programmer writes it takes on this CPU where they are.
#pragma once

#include "diffbench/line_cache.hpp"
#include "diffbench/problem.hpp"
#include "result.hpp"

#include <optional>
#include <string>

namespace diffbench::bench {

/// Times of `fused`, a block's front in the field over random numbers, for some 30 ms on one
/// thread; from `cache`, where they are kept for a CPU model and a cell type, when it has them of
/// this build. Nothing where the build has no fused. A cache that cannot be written is as good as
/// none.
[[nodiscard]] std::optional<DenormalCost> find_denormal_cost(Dtype dtype, const LineCache& cache);

/// The sentence on both, for fields with denormal numbers where these are not free; nothing for
/// others.
[[nodiscard]] std::optional<std::string> denormal_note(const FieldFacts& field, std::int64_t cells,
                                                       const DenormalCost& cost);

} // namespace diffbench::bench
