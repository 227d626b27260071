// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diffbench/problem.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace diffbench {

/// The factor by which one time step multiplies the `sine` mode, exactly (in exact arithmetic):
/// 1 - r (4 sin^2(a) + 4 sin^2(b)) with a, b half the mode's phase step in x and y.
inline double sine_decay_factor(const Problem& problem) {
  const auto eigenvalue = [&](std::int64_t extent) {
    const auto n = static_cast<double>(extent);
    const double phase = problem.boundary == Boundary::periodic    ? 2 * std::numbers::pi / n
                         : problem.boundary == Boundary::dirichlet ? std::numbers::pi / (n + 1)
                                                                   : std::numbers::pi / n;
    const double s = std::sin(phase / 2);
    return 4 * s * s;
  };
  return 1 - problem.diffusion_number() * (eigenvalue(problem.nx) + eigenvalue(problem.ny));
}

} // namespace diffbench
