// SPDX-License-Identifier: Apache-2.0
#include "diffbench/proof_fields.hpp"

#include "diffbench/value_range.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace diffbench {

namespace {

// Uniform in [0, 1), of any index: a step of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
double uniform(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

template <typename T>
double scale_of(ProofCells cells) {
  using Limits = std::numeric_limits<T>;
  switch (cells) {
    case ProofCells::denormal: return 700.0 * static_cast<double>(Limits::denorm_min());
    case ProofCells::near_denormal: return 4.0 * static_cast<double>(Limits::min());
    case ProofCells::large: return static_cast<double>(largest_value<T>);
    default: return 1;
  }
}

// The large cells of a mixed field are not so large that a backend holds them in another form than
// the fields that it is timed with: simd keeps fields of a quarter of the exponent's range clear of
// denormal numbers.
template <typename T>
constexpr double large_of_mixed = sizeof(T) == sizeof(float) ? 0x1p31 : 0x1p255;

// A patch's cells keep to their kind for half as many steps as it has rows. It is small because
// some CPUs take a hundred cycles for each operation on denormal numbers.
constexpr std::int64_t patch = 64;

template <typename T>
double scale_at(std::int64_t x, std::int64_t y, std::int64_t nx, std::int64_t ny) {
  const std::int64_t width = std::min(patch, nx / 3);
  const std::int64_t height = std::min(patch, ny / 3);
  if (x < width && y < height) {
    return scale_of<T>(ProofCells::denormal);
  }
  return x >= nx - width && y >= ny - height ? large_of_mixed<T> : 1;
}

} // namespace

std::string_view to_string(ProofCells cells) {
  switch (cells) {
    case ProofCells::random: return "random";
    case ProofCells::denormal: return "denormal";
    case ProofCells::near_denormal: return "nearly denormal";
    case ProofCells::large: return "large";
    case ProofCells::mixed: break;
  }
  return "mixed";
}

template <typename T>
void fill_proof_cells(ProofCells cells, Field<T>& field) {
  double scale = scale_of<T>(cells);
  std::uint64_t index = 0;
  for (std::int64_t y = 0; y < field.ny(); ++y) {
    T* row = field.row(y);
    for (std::int64_t x = 0; x < field.nx(); ++x) {
      if (cells == ProofCells::mixed) {
        scale = scale_at<T>(x, y, field.nx(), field.ny());
      }
      row[x] = static_cast<T>(scale * uniform(index++));
    }
  }
}

std::vector<ProofField> proof_fields(Dtype dtype, bool brief) {
  using enum ProofCells;
  struct Shape {
    std::int64_t nx, ny;
    std::vector<ProofCells> cells;
    bool thorough = false;
    bool brief = false;
  };
  // Vectors have up to 16 cells, blocks of rows 4, tiles of a GPU up to 128x256 cells with halos.
  const Shape shapes[] = {
      {.nx = 67,
       .ny = 19,
       .cells = {random, denormal, near_denormal, large},
       .thorough = true,
       .brief = true},
      {.nx = 3, .ny = 3, .cells = {random}, .brief = true},
      {.nx = 5, .ny = 34, .cells = {random}, .brief = true},
      {.nx = 48, .ny = 48, .cells = {random}},
      {.nx = 131, .ny = 97, .cells = {random}},
      {.nx = 2053, .ny = 7, .cells = {random}},
  };
  std::vector<ProofField> fields;
  for (const Shape& shape : shapes) {
    if (brief && !shape.brief) {
      continue;
    }
    for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
      // What no boundary has to do with is tried with one: each step of a row on many threads waits
      // for all of them.
      const bool is_first = boundary == Boundary::periodic;
      fields.push_back({.problem = {.nx = shape.nx,
                                    .ny = shape.ny,
                                    .spacing = 0.9,
                                    .diffusivity = 0.7,
                                    .dt = 0.2,
                                    .boundary = boundary,
                                    .boundary_value = 0.3,
                                    .dtype = dtype},
                        .cells = is_first ? shape.cells : std::vector{random},
                        .thorough = shape.thorough && is_first && !brief});
    }
  }
  return fields;
}

std::vector<std::int64_t> proof_steps(std::span<const std::int64_t> depths, bool thorough) {
  std::set<std::int64_t> counts{1, 2};
  for (const std::int64_t depth : depths) {
    counts.insert(depth + 1);
    if (thorough) {
      counts.insert({depth, 2 * depth + 1});
    }
  }
  if (thorough) {
    counts.insert({3, 5, 9, 13, 17});
  }
  return {counts.begin(), counts.end()};
}

template void fill_proof_cells(ProofCells, Field<float>&);
template void fill_proof_cells(ProofCells, Field<double>&);

} // namespace diffbench
