#include "diffbench/initial.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
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

template <typename T>
void fill_block(Field<T>& field) {
  // As Python's int(0.4 * n): a product of doubles, cut off.
  const auto part = [](double share, std::int64_t extent) {
    return static_cast<std::int64_t>(share * static_cast<double>(extent));
  };
  std::ranges::fill(field.cells(), T{0});
  for (std::int64_t y = part(0.4, field.ny()); y < part(0.5, field.ny()); ++y) {
    T* row = field.row(y);
    std::fill(row + part(0.4, field.nx()), row + part(0.5, field.nx()), static_cast<T>(0.005));
  }
}

template <typename T>
void fill_gaussian(Field<T>& field) {
  // Distance from the centre in standard deviations, a tenth of the extent in each direction.
  const auto distance = [](std::int64_t index, std::int64_t extent) {
    const auto n = static_cast<double>(extent);
    return (static_cast<double>(index) - (n - 1) / 2) / (0.1 * n);
  };
  for (std::int64_t y = 0; y < field.ny(); ++y) {
    const double dy = distance(y, field.ny());
    for (std::int64_t x = 0; x < field.nx(); ++x) {
      const double dx = distance(x, field.nx());
      field.row(y)[x] = static_cast<T>(std::exp(-(dx * dx + dy * dy) / 2));
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
void fill_sine(const Problem& problem, Field<T>& field) {
  const double level = problem.boundary == Boundary::dirichlet ? problem.boundary_value : 0;
  const std::vector<double> along_x = mode(problem.boundary, field.nx());
  const std::vector<double> along_y = mode(problem.boundary, field.ny());
  T* cell = field.cells().data();
  for (const double mode_y : along_y) {
    for (const double mode_x : along_x) {
      *cell++ = static_cast<T>(level + mode_x * mode_y);
    }
  }
}

template <typename T>
void fill_random(std::uint64_t seed, Field<T>& field) {
  std::mt19937_64 generator(seed);
  // Written out because std::uniform_real_distribution differs between standard libraries.
  for (T& cell : field.cells()) {
    cell = static_cast<T>(static_cast<double>(generator() >> 11) * 0x1p-53);
  }
}

std::string grid_text(std::int64_t nx, std::int64_t ny) {
  return std::to_string(nx) + "x" + std::to_string(ny);
}

void check_shape(const Problem& problem, const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || !std::filesystem::is_regular_file(path)) {
    return; // read_npy says what is wrong
  }
  const NpyHeader header = read_npy_header(stream, path);
  if (header.nx != problem.nx || header.ny != problem.ny) {
    throw InvalidInput("'" + path.string() + "' holds " + grid_text(header.nx, header.ny) +
                       " cells and the grid has " + grid_text(problem.nx, problem.ny) +
                       "; use --grid " + grid_text(header.nx, header.ny));
  }
}

template <typename T>
void check_finite(const Field<T>& field, const std::filesystem::path& path) {
  const auto cells = field.cells();
  const auto bad = std::ranges::find_if(cells, [](T cell) { return !std::isfinite(cell); });
  if (bad != cells.end()) {
    const std::int64_t index = bad - cells.begin();
    throw InvalidInput(
        "'" + path.string() + "' holds " + std::to_string(summarize(cells).nonfinite) +
        " values that are NaN or infinite, the first at row " + std::to_string(index / field.nx()) +
        ", column " + std::to_string(index % field.nx()) +
        "; replace them, for example with np.nan_to_num(a)");
  }
}

template <typename T>
void fill_from_file(const Problem& problem, const std::filesystem::path& path, Field<T>& field) {
  check_shape(problem, path); // its message names the options
  read_npy(path, field);
  check_finite(field, path);
}

} // namespace

InitialField parse_initial(std::string_view text) {
  for (const auto& [kind, name] : kind_names) {
    if (name == text) {
      return {.kind = kind, .path = {}};
    }
  }
  if (text.ends_with(".npy")) {
    return {.kind = Kind::file, .path = text};
  }
  throw InvalidInput("unknown initial field '" + std::string(text) +
                     "'; valid: block, gaussian, sine, random, or a file whose name ends in .npy");
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
void fill_initial(const Problem& problem, const InitialField& initial, Field<T>& field) {
  switch (initial.kind) {
    case Kind::block: fill_block(field); break;
    case Kind::gaussian: fill_gaussian(field); break;
    case Kind::sine: fill_sine(problem, field); break;
    case Kind::random: fill_random(initial.seed, field); break;
    case Kind::file: fill_from_file(problem, initial.path, field); break;
  }
}

double sine_decay_factor(const Problem& problem) {
  const auto eigenvalue = [&](std::int64_t extent) {
    const double s = std::sin(phase_step(problem.boundary, extent) / 2);
    return 4 * s * s;
  };
  return 1 - problem.diffusion_number() * (eigenvalue(problem.nx) + eigenvalue(problem.ny));
}

template void fill_initial(const Problem&, const InitialField&, Field<float>&);
template void fill_initial(const Problem&, const InitialField&, Field<double>&);

} // namespace diffbench
