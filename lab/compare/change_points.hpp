// SPDX-License-Identifier: Apache-2.0
// Where a series of figures changed its level.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace diffbench::bench {

/// Fewer on a side are no level.
inline constexpr std::size_t least_stretch = 2;

/// The indices at which a new level begins, ascending. A split is as good as its rank sum is far
/// from what chance gives, in standard deviations; the best one counts if of 1999 random orders of
/// the same figures so few have one as good that its probability is `alpha` at most. So a series
/// without any change gets one with that probability, whatever its distribution: all that is
/// assumed is that figures of one level may come in any order. The two sides are searched again
/// (binary segmentation; a permutation test of the CUSUM of ranks as in Pettitt, "A non-parametric
/// approach to the change-point problem", Applied Statistics 28, 1979). At 1 % fewer than 10
/// figures show nothing.
[[nodiscard]] std::vector<std::size_t> change_points(std::span<const double> figures, double alpha);

} // namespace diffbench::bench
