// SPDX-License-Identifier: Apache-2.0
#include "sign_evidence.hpp"

#include <cmath>
#include <numbers>

namespace diffbench::bench {

double log_sign_evidence(std::int64_t above, std::int64_t n) {
  const auto s = static_cast<double>(above);
  const auto all = static_cast<double>(n);
  return all * std::numbers::ln2 + std::lgamma(s + 0.5) + std::lgamma(all - s + 0.5) -
         std::lgamma(all + 1) - std::log(std::numbers::pi);
}

std::int64_t sequential_rank(std::int64_t n, double alpha) {
  const double limit = -std::log(alpha);
  // By B(s + 3/2, n - s - 1/2) = B(s + 1/2, n - s + 1/2) (s + 1/2) / (n - s - 1/2).
  double evidence = log_sign_evidence(0, n);
  std::int64_t rank = 0;
  while (2 * rank < n && evidence >= limit) {
    const auto s = static_cast<double>(rank);
    evidence += std::log(s + 0.5) - std::log(static_cast<double>(n) - s - 0.5);
    ++rank;
  }
  return rank;
}

} // namespace diffbench::bench
