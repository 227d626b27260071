// The proof beside the time of a forward pass: its outputs against float64.
#pragma once

#include "diffbench/mlp/network.hpp"

#include <span>

namespace diffbench::bench {

/// float32 against float64, over the largest output: more than the rounding of long sums, and far
/// below what a wrong weight does.
inline constexpr double most_output_error = 1e-4;

/// The largest error of `outputs` for these rows, over the largest output; NaN when there is one.
[[nodiscard]] double output_error(const mlp::Network& network, std::span<const float> parameters,
                                  std::span<const float> rows, std::span<const float> outputs);

} // namespace diffbench::bench
