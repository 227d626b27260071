// SPDX-License-Identifier: Apache-2.0
#include "diffbench/initial.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/value_range.hpp"
#include "diffbench/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace diffbench {

namespace {

using Kind = InitialField::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 4> kind_names = {{
    {Kind::block, "block"},
    {Kind::gaussian, "gaussian"},
    {Kind::sine, "sine"},
    {Kind::random, "random"},
}};

/// Some rows of a field of nx by ny cells, the first of them row `first`.
template <typename T>
struct Part {
  std::int64_t nx;
  std::int64_t ny;
  std::int64_t first;
  std::span<T> cells;

  [[nodiscard]] std::int64_t last() const {
    return first + static_cast<std::int64_t>(cells.size()) / nx;
  }
  [[nodiscard]] T* row(std::int64_t y) const { return cells.data() + (y - first) * nx; }
};

template <typename T>
void fill_block(const Part<T>& part) {
  // As Python's int(0.4 * n): a product of doubles, cut off.
  const auto share = [](double of, std::int64_t extent) {
    return static_cast<std::int64_t>(of * static_cast<double>(extent));
  };
  std::ranges::fill(part.cells, T{0});
  const std::int64_t begin = std::max(part.first, share(0.4, part.ny));
  const std::int64_t end = std::min(part.last(), share(0.5, part.ny));
  for (std::int64_t y = begin; y < end; ++y) {
    T* row = part.row(y);
    std::fill(row + share(0.4, part.nx), row + share(0.5, part.nx), static_cast<T>(0.005));
  }
}

template <typename T>
void fill_gaussian(const Part<T>& part) {
  // Distance from the centre in standard deviations, a tenth of the extent in each direction.
  const auto distance = [](std::int64_t index, std::int64_t extent) {
    const auto n = static_cast<double>(extent);
    return (static_cast<double>(index) - (n - 1) / 2) / (0.1 * n);
  };
  for (std::int64_t y = part.first; y < part.last(); ++y) {
    const double dy = distance(y, part.ny);
    for (std::int64_t x = 0; x < part.nx; ++x) {
      const double dx = distance(x, part.nx);
      part.row(y)[x] = static_cast<T>(std::exp(-(dx * dx + dy * dy) / 2));
    }
  }
}

// The phase that the mode gains from one cell to the next.
double phase_step(Boundary boundary, std::int64_t extent) {
  const auto n = static_cast<double>(extent);
  switch (boundary) {
    case Boundary::periodic: return 2 * std::numbers::pi / n;
    case Boundary::dirichlet: return std::numbers::pi / (n + 1);
    case Boundary::neumann: break;
  }
  return std::numbers::pi / n;
}

// The mode along one direction. The product of two of them is an eigenmode of the five-point
// Laplacian under its boundary condition (Strang, "The Discrete Cosine Transform", SIAM Review
// 1999, derives the one-dimensional ones).
std::vector<double> mode(Boundary boundary, std::int64_t extent) {
  const double step = phase_step(boundary, extent);
  std::vector<double> values(static_cast<std::size_t>(extent));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(i);
    switch (boundary) {
      case Boundary::periodic: values[i] = std::sin(step * x); break;
      case Boundary::dirichlet: values[i] = std::sin(step * (x + 1)); break;
      case Boundary::neumann: values[i] = std::cos(step * (x + 0.5)); break;
    }
  }
  return values;
}

template <typename T>
void fill_sine(const Problem& problem, const Part<T>& part) {
  const double level = problem.boundary == Boundary::dirichlet ? problem.boundary_value : 0;
  const std::vector<double> along_x = mode(problem.boundary, part.nx);
  const std::vector<double> along_y = mode(problem.boundary, part.ny);
  T* cell = part.cells.data();
  for (std::int64_t y = part.first; y < part.last(); ++y) {
    for (const double mode_x : along_x) {
      *cell++ = static_cast<T>(level + mode_x * along_y[static_cast<std::size_t>(y)]);
    }
  }
}

template <typename T>
void fill_random(std::mt19937_64& generator, const Part<T>& part) {
  // Written out because std::uniform_real_distribution differs between standard libraries.
  for (T& cell : part.cells) {
    cell = static_cast<T>(static_cast<double>(generator() >> 11) * 0x1p-53);
  }
}

std::string grid_text(std::int64_t nx, std::int64_t ny) {
  return std::to_string(nx) + "x" + std::to_string(ny);
}

void check_shape(const Problem& problem, const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) { // opening a pipe might wait for ever
    return;                                             // read_npy says what is wrong
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return;
  }
  const NpyHeader header = read_npy_header(stream, path);
  if (header.nx != problem.nx || header.ny != problem.ny) {
    throw InvalidInput("'" + path.string() + "' holds " + grid_text(header.nx, header.ny) +
                       " cells and the grid has " + grid_text(problem.nx, problem.ny) +
                       (std::min(header.nx, header.ny) < min_extent
                            ? "; a grid has at least " + grid_text(min_extent, min_extent)
                            : "; use --grid " + grid_text(header.nx, header.ny)));
  }
}

template <typename T>
void check_finite(const Part<T>& part, const std::filesystem::path& path) {
  const std::span<T> cells = part.cells;
  const auto bad = std::ranges::find_if(cells, [](T cell) { return !std::isfinite(cell); });
  if (bad != cells.end()) {
    const std::int64_t index = part.first * part.nx + (bad - cells.begin());
    throw InvalidInput("'" + path.string() + "' holds " +
                       std::to_string(summarize(std::span<const T>(cells)).nonfinite) +
                       " values that are NaN or infinite, the first at row " +
                       std::to_string(index / part.nx) + ", column " +
                       std::to_string(index % part.nx) +
                       "; replace them, for example with np.nan_to_num(a)");
  }
}

std::string three_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

template <typename T>
void check_range(const Part<T>& part, const std::filesystem::path& path) {
  const std::span<T> cells = part.cells;
  const auto bad =
      std::ranges::find_if(cells, [](T cell) { return !(std::abs(cell) <= largest_value<T>); });
  if (bad != cells.end()) {
    const std::int64_t index = part.first * part.nx + (bad - cells.begin());
    throw InvalidInput("'" + path.string() + "' holds " + three_digits(*bad) + " at row " +
                       std::to_string(index / part.nx) + ", column " +
                       std::to_string(index % part.nx) + "; beyond " +
                       three_digits(largest_value<T>) + " a step can overflow in " +
                       std::string(to_string(dtype_of<T>)) + ": scale the field" +
                       (dtype_of<T> == Dtype::float32 ? ", or save it as float64" : ""));
  }
}

template <typename T>
void fill_from_file(const Problem& problem, const std::filesystem::path& path,
                    const Part<T>& part) {
  check_shape(problem, path); // its message names the options
  read_npy_rows(path, problem.nx, problem.ny, part.first, part.cells);
  check_finite(part, path);
  check_range(part, path);
}

} // namespace

InitialField parse_initial(std::string_view text) {
  std::vector<std::string> valid;
  for (const auto& [kind, name] : kind_names) {
    if (name == text) {
      return {.kind = kind, .path = {}};
    }
    valid.emplace_back(name);
  }
  if (text.ends_with(".npy")) {
    return {.kind = Kind::file, .path = text};
  }
  valid.emplace_back("a file whose name ends in .npy");
  throw unknown_name("initial field", text, valid);
}

std::string to_string(const InitialField& initial) {
  for (const auto& [kind, name] : kind_names) {
    if (kind == initial.kind) {
      return std::string(name);
    }
  }
  return initial.path.string();
}

template <typename T>
void InitialRows::fill(std::int64_t first, std::span<T> cells) {
  const Part<T> part{problem_.nx, problem_.ny, first, cells};
  switch (initial_.kind) {
    case Kind::block: fill_block(part); break;
    case Kind::gaussian: fill_gaussian(part); break;
    case Kind::sine: fill_sine(problem_, part); break;
    case Kind::random: {
      const std::int64_t skipped = (first - next_row_) * problem_.nx;
      generator_.discard(static_cast<unsigned long long>(skipped));
      fill_random(generator_, part);
      break;
    }
    case Kind::file: fill_from_file(problem_, initial_.path, part); break;
  }
  next_row_ = part.last();
}

template <typename T>
void fill_initial(const Problem& problem, const InitialField& initial, Field<T>& field) {
  InitialRows(problem, initial).fill(0, field.cells());
}

template void fill_initial(const Problem&, const InitialField&, Field<float>&);
template void fill_initial(const Problem&, const InitialField&, Field<double>&);
template void InitialRows::fill(std::int64_t, std::span<float>);
template void InitialRows::fill(std::int64_t, std::span<double>);

} // namespace diffbench
