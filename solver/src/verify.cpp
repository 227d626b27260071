#include "diffbench/verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace diffbench {

namespace {

// A row of nx cells with a ghost cell at each end; cell x is at(x), x from -1 to nx.
template <typename T>
class GhostedRow {
 public:
  explicit GhostedRow(std::int64_t nx) : nx_(nx), cells_(static_cast<std::size_t>(nx + 2)) {}

  T& at(std::int64_t x) { return cells_[static_cast<std::size_t>(x + 1)]; }

  void fill(T value) { std::ranges::fill(cells_, value); }

  void copy(const T* row, const Problem& problem) {
    std::copy(row, row + nx_, cells_.begin() + 1);
    switch (problem.boundary) {
      case Boundary::periodic:
        at(-1) = row[nx_ - 1];
        at(nx_) = row[0];
        break;
      case Boundary::dirichlet: at(-1) = at(nx_) = static_cast<T>(problem.boundary_value); break;
      case Boundary::neumann:
        at(-1) = row[0];
        at(nx_) = row[nx_ - 1];
        break;
    }
  }

 private:
  std::int64_t nx_;
  std::vector<T> cells_;
};

} // namespace

template <typename T>
void advance_reference(const Problem& problem, Field<T>& field, std::int64_t steps) {
  const std::int64_t nx = problem.nx;
  const std::int64_t ny = problem.ny;
  const T factor = problem.update_factor<T>();
  // The step is in place: these rows hold the old values that it still needs.
  GhostedRow<T> above(nx);
  GhostedRow<T> centre(nx);
  GhostedRow<T> below(nx);
  GhostedRow<T> first(nx);

  for (std::int64_t step = 0; step < steps; ++step) {
    first.copy(field.row(0), problem);
    centre = first;
    switch (problem.boundary) {
      case Boundary::periodic: above.copy(field.row(ny - 1), problem); break;
      case Boundary::dirichlet: above.fill(static_cast<T>(problem.boundary_value)); break;
      case Boundary::neumann: above = first; break;
    }
    for (std::int64_t y = 0; y < ny; ++y) {
      if (y + 1 < ny) {
        below.copy(field.row(y + 1), problem);
      } else {
        switch (problem.boundary) {
          case Boundary::periodic: below = first; break;
          case Boundary::dirichlet: below.fill(static_cast<T>(problem.boundary_value)); break;
          case Boundary::neumann: below = centre; break;
        }
      }
      T* row = field.row(y);
      for (std::int64_t x = 0; x < nx; ++x) {
        const T u = centre.at(x);
        const T lap = above.at(x) + below.at(x) + centre.at(x - 1) + centre.at(x + 1) - T{4} * u;
        row[x] = u + factor * lap;
      }
      std::swap(above, centre);
      std::swap(centre, below);
    }
  }
}

template <typename T>
Comparison compare(std::span<const T> result, std::span<const T> reference) {
  Comparison comparison;
  bool equal = result.size() == reference.size();
  const std::size_t size = std::min(result.size(), reference.size());
  for (std::size_t i = 0; i < size; ++i) {
    if (std::memcmp(&result[i], &reference[i], sizeof(T)) != 0) {
      equal = false;
      if (comparison.first_difference < 0) {
        comparison.first_difference = static_cast<std::int64_t>(i);
      }
      const double error =
          std::abs(static_cast<double>(result[i]) - static_cast<double>(reference[i]));
      if (std::isfinite(error)) {
        comparison.max_abs_error = std::max(comparison.max_abs_error, error);
      }
    }
    if (!std::isfinite(result[i])) {
      ++comparison.nonfinite;
    }
  }
  comparison.bitwise = equal && comparison.nonfinite == 0;
  return comparison;
}

template <typename T>
Summary summarize(std::span<const T> cells) {
  Summary summary;
  bool any = false;
  for (const T cell : cells) {
    const double value = static_cast<double>(cell);
    if (!std::isfinite(value)) {
      ++summary.nonfinite;
      continue;
    }
    summary.min = any ? std::min(summary.min, value) : value;
    summary.max = any ? std::max(summary.max, value) : value;
    summary.sum += value;
    summary.denormal += std::fpclassify(cell) == FP_SUBNORMAL ? 1 : 0;
    any = true;
  }
  return summary;
}

template void advance_reference(const Problem&, Field<float>&, std::int64_t);
template void advance_reference(const Problem&, Field<double>&, std::int64_t);
template Comparison compare(std::span<const float>, std::span<const float>);
template Comparison compare(std::span<const double>, std::span<const double>);
template Summary summarize(std::span<const float>);
template Summary summarize(std::span<const double>);

} // namespace diffbench
