// SPDX-License-Identifier: Apache-2.0
// How long a step takes on many ranks: what a deep halo saves, and what it costs.
//
// A rank of `rows` rows that exchanges halos of `depth` rows every `depth` steps computes rows + 2
// depth rows in each step, and shares the price of an exchange, a + b times the bytes of one
// message, among `depth` steps:
//
//   t(depth) = (rows + 2 depth) nx c + (a + b depth nx e) / depth
//
// with c seconds a cell and e bytes a cell. Deeper halos pay until the rows that are computed twice
// cost more than what is left of a: depth^2 = a / (2 nx c). So the faster the kernel, the deeper
// the halo that it needs, and the lower the efficiency of one exchange a step: it is slow kernels
// that scale. (The exchange by Hockney's alpha-beta model, "The communication challenge for MPP",
// Parallel Computing 20, 1994.)
#pragma once

#include <array>
#include <cstdint>

namespace diffbench::cluster {

/// An exchange of halos with both neighbours, however long one message is.
struct ExchangeCost {
  double seconds = 0;          ///< a
  double seconds_per_byte = 0; ///< b, of the bytes of one of the two messages
};

/// What one rank does.
struct RankWork {
  double rows = 0; ///< its own
  double nx = 0;
  double cell_bytes = 4;
  double seconds_per_cell = 0; ///< of a step
};

/// The depths that are considered: one notch is a factor of 2.
inline constexpr std::array<std::int64_t, 7> depth_notches = {1, 2, 4, 8, 16, 32, 64};

/// Seconds a step of one of several ranks.
[[nodiscard]] double step_seconds(const RankWork& work, const ExchangeCost& exchange,
                                  std::int64_t depth);
/// The notch with the shortest step, of those that the rows of a rank allow; at least 1.
[[nodiscard]] std::int64_t best_depth(const RankWork& work, const ExchangeCost& exchange);
/// The part of a step's time in which a rank does what one alone would do: own rows, no exchange.
[[nodiscard]] double efficiency(const RankWork& work, const ExchangeCost& exchange,
                                std::int64_t depth);

} // namespace diffbench::cluster
