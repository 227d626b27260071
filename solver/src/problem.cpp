// SPDX-License-Identifier: Apache-2.0
#include "diffbench/problem.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/value_range.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace diffbench {

namespace {

void check_extent(const char* name, std::int64_t extent) {
  if (extent < min_extent || extent > max_extent) {
    throw InvalidInput(std::string(name) + " = " + std::to_string(extent) +
                       " cells; a grid has from " + std::to_string(min_extent) + " to " +
                       std::to_string(max_extent) + " in each direction");
  }
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

void check_positive(const char* name, double value) {
  if (!(std::isfinite(value) && value > 0)) {
    throw InvalidInput(std::string(name) + " = " + decimal(value) +
                       "; it must be a finite number above 0");
  }
}

} // namespace

void validate(const Problem& problem, Stability stability) {
  check_extent("nx", problem.nx);
  check_extent("ny", problem.ny);
  check_positive("dt", problem.dt);
  check_positive("diffusivity", problem.diffusivity);
  check_positive("spacing", problem.spacing);
  const double largest = problem.dtype == Dtype::float32 ? static_cast<double>(largest_value<float>)
                                                         : largest_value<double>;
  if (!(std::abs(problem.boundary_value) <= largest)) {
    throw InvalidInput("boundary value = " + decimal(problem.boundary_value) +
                       "; it must be a finite number, in " + std::string(to_string(problem.dtype)) +
                       " from -" + decimal(largest) + " to " + decimal(largest));
  }
  const double number = problem.diffusion_number();
  if (!std::isfinite(number)) {
    throw InvalidInput("dt*D/h^2 overflows; choose smaller dt or diffusivity, or larger spacing");
  }
  if (stability == Stability::required && !(number <= stability_limit)) {
    throw Unstable(
        "dt = " + decimal(problem.dt) + " is unstable: dt*D/h^2 = " + decimal(number) +
        " is above 1/4; use dt <= " +
        decimal(stability_limit * problem.spacing * problem.spacing / problem.diffusivity));
  }
}

} // namespace diffbench
