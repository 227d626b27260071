// SPDX-License-Identifier: Apache-2.0
// The runs that are compared with NumPy: the main job's grid from three initial fields.
#pragma once

#include "diffbench/initial.hpp"
#include "diffbench/problem.hpp"

#include <string>
#include <vector>

namespace diffbench::golden {

inline constexpr InitialField::Kind initial_kinds[] = {
    InitialField::Kind::block, InitialField::Kind::random, InitialField::Kind::sine};
inline constexpr Boundary boundaries[] = {Boundary::periodic, Boundary::dirichlet,
                                          Boundary::neumann};

/// The main job's problem; ghost cells hold a value that has to be rounded.
inline Problem problem_of(Dtype dtype, Boundary boundary) {
  return {.boundary = boundary, .boundary_value = 0.3, .dtype = dtype};
}

/// The ascending numbers of steps after which a run is compared.
inline std::vector<int> steps_of(Boundary boundary) {
  return boundary == Boundary::periodic ? std::vector<int>{100, 1000} : std::vector<int>{100};
}

inline InitialField initial_of(InitialField::Kind kind) {
  return {.kind = kind, .seed = 1, .path = {}};
}

/// Also the stem of the file names.
inline std::string case_name(InitialField::Kind kind, const Problem& problem) {
  return to_string(initial_of(kind)) + "_" + std::string(to_string(problem.boundary)) + "_" +
         std::string(to_string(problem.dtype));
}

} // namespace diffbench::golden
