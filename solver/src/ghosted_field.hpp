// SPDX-License-Identifier: Apache-2.0
// A field with a ring of ghost cells, as the one-sweep backends keep it: (nx+2) by (ny+2), the
// grid's cell (x, y) at row(y + 1)[x + 1].
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <algorithm>
#include <span>

namespace diffbench {

template <typename T>
[[nodiscard]] Field<T> make_ghosted(const Problem& problem) {
  return Field<T>(problem.nx + 2, problem.ny + 2);
}
/// The second one of a session, whose rows a step writes while it reads those of the first.
template <typename T>
[[nodiscard]] Field<T> make_second_ghosted(const Problem& problem) {
  const std::int64_t row = problem.nx + 2;
  return Field<T>(row, problem.ny + 2, stagger_beside(static_cast<std::size_t>(row) * sizeof(T)));
}

/// Bytes of one ghosted field.
[[nodiscard]] inline std::int64_t ghosted_bytes(const Problem& problem) {
  return (problem.nx + 2) * (problem.ny + 2) * problem.element_bytes();
}

/// Rows of the grid from `first` on, as many as `cells` holds.
template <typename T>
void copy_in(const Problem& problem, std::int64_t first, std::span<const T> cells,
             Field<T>& ghosted) {
  const std::int64_t rows = std::ssize(cells) / problem.nx;
  for (std::int64_t y = 0; y < rows; ++y) {
    std::copy_n(cells.data() + y * problem.nx, problem.nx, ghosted.row(first + y + 1) + 1);
  }
}

template <typename T>
void copy_out(const Problem& problem, const Field<T>& ghosted, std::int64_t first,
              std::span<T> cells) {
  const std::int64_t rows = std::ssize(cells) / problem.nx;
  for (std::int64_t y = 0; y < rows; ++y) {
    std::copy_n(ghosted.row(first + y + 1) + 1, problem.nx, cells.data() + y * problem.nx);
  }
}

/// Makes the ghost cells of the grid's state. Corners get no meaning: a five-point stencil does not
/// read them.
template <typename T>
void fill_ghosts(const Problem& problem, Field<T>& ghosted) {
  const std::int64_t nx = problem.nx;
  const std::int64_t ny = problem.ny;
  const T constant = static_cast<T>(problem.boundary_value);
  T* top = ghosted.row(0);
  T* bottom = ghosted.row(ny + 1);
  switch (problem.boundary) {
    case Boundary::periodic:
      std::copy_n(ghosted.row(ny), nx + 2, top);
      std::copy_n(ghosted.row(1), nx + 2, bottom);
      break;
    case Boundary::dirichlet:
      std::fill_n(top, nx + 2, constant);
      std::fill_n(bottom, nx + 2, constant);
      break;
    case Boundary::neumann:
      std::copy_n(ghosted.row(1), nx + 2, top);
      std::copy_n(ghosted.row(ny), nx + 2, bottom);
      break;
  }
  for (std::int64_t y = 1; y <= ny; ++y) {
    T* row = ghosted.row(y);
    switch (problem.boundary) {
      case Boundary::periodic:
        row[0] = row[nx];
        row[nx + 1] = row[1];
        break;
      case Boundary::dirichlet: row[0] = row[nx + 1] = constant; break;
      case Boundary::neumann:
        row[0] = row[1];
        row[nx + 1] = row[nx];
        break;
    }
  }
}

} // namespace diffbench
