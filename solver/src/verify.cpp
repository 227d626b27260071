// SPDX-License-Identifier: Apache-2.0
#include "diffbench/verify.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
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

// How many numbers lie from one to the other; -0 and +0 are the same one.
template <typename T>
std::int64_t ulps(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T value) -> std::int64_t {
    const Bits bits = std::bit_cast<Bits>(value);
    return bits < 0 ? std::int64_t{std::numeric_limits<Bits>::min()} - bits : bits;
  };
  std::int64_t distance = 0;
  const bool too_far = __builtin_sub_overflow(place(a), place(b), &distance) ||
                       distance == std::numeric_limits<std::int64_t>::min();
  return too_far ? std::numeric_limits<std::int64_t>::max() : std::abs(distance);
}

// Finds the place of cells that are told one after another.
class Placing {
 public:
  Placing(std::int64_t nx, std::int64_t ny, std::int64_t reach) : nx_(nx), ny_(ny), reach_(reach) {}

  void add(std::int64_t x, std::int64_t y) {
    const bool top = y < reach_;
    const bool bottom = y >= ny_ - reach_;
    const bool left = x < reach_;
    const bool right = x >= nx_ - reach_;
    corner_ &= (top || bottom) && (left || right);
    top_ &= top;
    bottom_ &= bottom;
    left_ &= left;
    right_ &= right;
    edges_ &= top || bottom || left || right;
    inside_ &= !(top || bottom || left || right);
    parts_.set(static_cast<std::size_t>(3 * (3 * y / ny_) + 3 * x / nx_));
  }

  [[nodiscard]] FieldPlace place() const {
    constexpr std::int64_t most = 3; // parts of rows, and of columns
    if (static_cast<std::int64_t>(parts_.count()) == std::min(most, nx_) * std::min(most, ny_)) {
      return FieldPlace::everywhere;
    }
    if (2 * reach_ >= std::min(nx_, ny_)) {
      return FieldPlace::unplaced;
    }
    for (const auto& [holds, place] : {std::pair{corner_, FieldPlace::corner},
                                       {top_, FieldPlace::top},
                                       {bottom_, FieldPlace::bottom},
                                       {left_, FieldPlace::left},
                                       {right_, FieldPlace::right},
                                       {edges_, FieldPlace::edges},
                                       {inside_, FieldPlace::inside}}) {
      if (holds) {
        return place;
      }
    }
    return FieldPlace::scattered;
  }

 private:
  std::int64_t nx_;
  std::int64_t ny_;
  std::int64_t reach_;
  bool corner_ = true; // all cells so far are of it, and so on
  bool top_ = true;
  bool bottom_ = true;
  bool left_ = true;
  bool right_ = true;
  bool edges_ = true;
  bool inside_ = true;
  std::bitset<9> parts_; // that have such a cell
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

std::string_view to_string(FieldPlace place) {
  switch (place) {
    case FieldPlace::corner: return "in a corner";
    case FieldPlace::top: return "at the top edge";
    case FieldPlace::bottom: return "at the bottom edge";
    case FieldPlace::left: return "at the left edge";
    case FieldPlace::right: return "at the right edge";
    case FieldPlace::edges: return "at the edges";
    case FieldPlace::inside: return "away from the edges";
    case FieldPlace::scattered: return "here and there";
    case FieldPlace::unplaced: return "somewhere";
    case FieldPlace::everywhere: break;
  }
  return "everywhere";
}

template <typename T>
Difference difference(std::span<const T> result, std::span<const T> reference, std::int64_t nx,
                      std::int64_t steps) {
  Difference found;
  const std::int64_t size = std::ssize(result);
  Placing placing(nx, size / nx, steps);
  bool any_positive = false;
  bool any_negative = false;
  for (std::int64_t i = 0; i < size; ++i) {
    const T mine = result[static_cast<std::size_t>(i)];
    const T right = reference[static_cast<std::size_t>(i)];
    any_positive |= right > 0;
    any_negative |= right < 0;
    if (!std::isfinite(mine)) {
      ++found.nonfinite;
    }
    if (std::memcmp(&mine, &right, sizeof(T)) == 0) {
      continue;
    }
    if (found.cells++ == 0) {
      found.x = i % nx;
      found.y = i / nx;
    }
    placing.add(i % nx, i / nx);
    if (std::isfinite(mine) && std::isfinite(right)) {
      found.max_ulps = std::max(found.max_ulps, ulps(mine, right));
      found.max_abs_error = std::max(
          found.max_abs_error, std::abs(static_cast<double>(mine) - static_cast<double>(right)));
    }
  }
  found.place = placing.place();
  found.one_sign = !(any_positive && any_negative);
  return found;
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
template Difference difference(std::span<const float>, std::span<const float>, std::int64_t,
                               std::int64_t);
template Difference difference(std::span<const double>, std::span<const double>, std::int64_t,
                               std::int64_t);
template Summary summarize(std::span<const float>);
template Summary summarize(std::span<const double>);

} // namespace diffbench
