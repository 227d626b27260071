// SPDX-License-Identifier: Apache-2.0
// What is solved: du/dt = D (d2u/dx2 + d2u/dy2) on a grid of nx by ny cells, explicit 5-point
// scheme.
//
// One time step is NumPy's evaluation, left to right, in the dtype of the run, of
//   lap = roll(u,+1,0) + roll(u,-1,0) + roll(u,+1,1) + roll(u,-1,1) - 4*u
//   u   = u + (dt*D/h^2) * lap
// with the factor in double, rounded once. Every backend gives these bits while 4*u is finite.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/name_table.hpp"

#include <cstdint>
#include <string_view>

namespace diffbench {

/// What the cells outside the grid (ghost cells) hold.
enum class Boundary {
  periodic,  ///< the opposite edge, as np.roll
  dirichlet, ///< the constant Problem::boundary_value
  neumann,   ///< the edge cell itself: no flux
};

inline constexpr NameTable<Boundary, 3> boundary_names{"boundary condition",
                                                       {{{Boundary::periodic, "periodic"},
                                                         {Boundary::dirichlet, "dirichlet"},
                                                         {Boundary::neumann, "neumann"}}}};
[[nodiscard]] constexpr std::string_view to_string(Boundary boundary) {
  return boundary_names.name(boundary);
}

enum class Dtype { float32, float64 };
inline constexpr NameTable<Dtype, 2> dtype_names{
    "dtype", {{{Dtype::float32, "float32"}, {Dtype::float64, "float64"}}}};
[[nodiscard]] constexpr std::string_view to_string(Dtype dtype) { return dtype_names.name(dtype); }

template <typename T>
inline constexpr Dtype dtype_of = sizeof(T) == sizeof(float) ? Dtype::float32 : Dtype::float64;

/// The numerics of one run. Fields are row-major: x (columns) varies fastest.
struct Problem {
  std::int64_t nx = 640;
  std::int64_t ny = 640;
  double spacing = 1.0; ///< h, the same in x and y
  double diffusivity = 1.0;
  double dt = 0.1;
  Boundary boundary = Boundary::periodic;
  double boundary_value = 0.0; ///< ghost cells under Boundary::dirichlet
  Dtype dtype = Dtype::float32;

  [[nodiscard]] std::int64_t cells() const { return nx * ny; }
  [[nodiscard]] std::int64_t element_bytes() const { return dtype == Dtype::float32 ? 4 : 8; }
  [[nodiscard]] std::int64_t field_bytes() const { return cells() * element_bytes(); }

  /// Memory traffic by convention: one read and one write of each cell a step, whatever a backend
  /// really moves. The denominator of every backend's GB/s.
  [[nodiscard]] std::int64_t bytes_per_step() const { return 2 * field_bytes(); }
  /// 4 additions or subtractions, 2 multiplications and the final addition a cell.
  [[nodiscard]] std::int64_t flops_per_step() const { return 7 * cells(); }

  /// D dt / h^2; the scheme is stable up to 1/4.
  [[nodiscard]] double diffusion_number() const { return dt * diffusivity / (spacing * spacing); }
  /// The diffusion number rounded once to the dtype of the run.
  template <typename T>
  [[nodiscard]] T update_factor() const {
    return static_cast<T>(diffusion_number());
  }

  bool operator==(const Problem&) const = default;
};

/// The largest stable diffusion number of the 2D five-point scheme.
inline constexpr double stability_limit = 0.25;
/// Bounds of nx and ny.
inline constexpr std::int64_t min_extent = 3;
inline constexpr std::int64_t max_extent = 1'000'000'000;

enum class Stability { required, waived };

/// The diffusion number is beyond stability_limit. Whoever offers to waive that says how.
class Unstable : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

/// Throws InvalidInput, naming value and limit, unless the problem can be solved: extents in
/// [min_extent, max_extent], finite positive spacing, dt and diffusivity, and where stability is
/// required a diffusion number up to stability_limit.
void validate(const Problem& problem, Stability stability = Stability::required);

} // namespace diffbench
