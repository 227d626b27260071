// SPDX-License-Identifier: Apache-2.0
// Evidence against a median that may be looked at after every value, without losing its error rate.
//
// Each independent value lies above its true median with probability 1/2. After n values, s of them
// above m, a bettor who began with 1 and spread it over all coins by Jeffreys' prior has
//
//   E_n(m) = 2^n B(s + 1/2, n - s + 1/2) / B(1/2, 1/2).
//
// If the median is m this is a fair game, so it ever exceeds 1 / alpha with probability alpha at
// most (Ville 1939). The medians with E_n(m) < 1 / alpha are an interval that covers the true one
// at all n at once with probability 1 - alpha (of the family of Howard and Ramdas, "Sequential
// estimation of quantiles", Bernoulli 28, 2022). docs/measuring.md derives it.
#pragma once

#include <cstdint>

namespace diffbench::bench {

/// ln E_n where `above` of n values, 0 to n, lie above the median in question.
[[nodiscard]] double log_sign_evidence(std::int64_t above, std::int64_t n);

/// The interval reaches from the r-th smallest of n values to the r-th largest, both included: this
/// is r. A value that equals m counts for the side that speaks for m, so ties only widen it. 0: too
/// few values for an interval (at alpha 1 % fewer than 10).
[[nodiscard]] std::int64_t sequential_rank(std::int64_t n, double alpha);

} // namespace diffbench::bench
