// SPDX-License-Identifier: Apache-2.0
// Backends as they go wrong: a boundary, a remainder, a sweep, the arithmetic. The block of a run
// in the middle of a large field shows few of these faults.
#pragma once

#include "oracle_session.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::conformance {

enum class Plant {
  none,
  // Boundaries.
  no_wrap,         ///< ghost cells are 0
  ghosts_once,     ///< those of the first step, for ever
  top_not_wrapped, ///< one edge only
  bottom_not_wrapped,
  left_not_wrapped,
  right_not_wrapped,
  wrong_corner,   ///< the last cell wraps to the first
  neumann_corner, ///< ghost cells beside a corner are the diagonal neighbour
  neumann_mirror, ///< ghost cells are the second cell, not the first
  dirichlet_zero, ///< whatever the constant is
  // Shapes.
  last_odd_row,     ///< rows go in pairs
  vector_remainder, ///< columns go in sixteens
  narrow_field,     ///< the first column of fewer than 8 is left out
  transposed,       ///< nx for ny
  no_wrap_if_large, ///< in the kernel of large fields
  flush_if_wide,    ///< of denormals, in the kernel of wide rows
  // Sweeps.
  short_sweep,        ///< of 8: one step too few where one is left over
  short_silent_sweep, ///< the same, and it does not say that it sweeps
  stale_band,         ///< a row reads the one above it as it was before the call
  wrong_buffer,       ///< after an odd number of steps, but for one
  // Arithmetic.
  flush,
  contract,
  other_order,  ///< of the sums
  float_factor, ///< computed in float
  scaled,       ///< by 4 and back, which overflows
  // Sessions.
  second_upload, ///< ignored
};
/// As those of the backends, in the enumeration's order.
inline constexpr std::string_view plant_names[] = {
    "none",
    "no_wrap",
    "ghosts_once",
    "top_not_wrapped",
    "bottom_not_wrapped",
    "left_not_wrapped",
    "right_not_wrapped",
    "wrong_corner",
    "neumann_corner",
    "neumann_mirror",
    "dirichlet_zero",
    "last_odd_row",
    "vector_remainder",
    "narrow_field",
    "transposed",
    "no_wrap_if_large",
    "flush_if_wide",
    "short_sweep",
    "short_silent_sweep",
    "stale_band",
    "wrong_buffer",
    "flush",
    "contract",
    "other_order",
    "float_factor",
    "scaled",
    "second_upload",
};
static_assert(std::size(plant_names) == static_cast<std::size_t>(Plant::second_upload) + 1);

template <typename T>
class PlantedSession final : public OracleSession<T> {
 public:
  PlantedSession(const Problem& problem, Plant plant)
      : OracleSession<T>(problem),
        plant_(plant),
        old_(problem.nx, problem.ny),
        first_(problem.nx, problem.ny) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    if (plant_ == Plant::second_upload && uploaded_) {
      return;
    }
    uploaded_ = true;
    std::ranges::copy(cells, field_.row(first));
    std::ranges::copy(field_.cells(), first_.cells().begin());
  }

  void advance(std::int64_t steps) override {
    const bool sweeps = plant_ == Plant::short_sweep || plant_ == Plant::short_silent_sweep;
    if ((sweeps && steps > 8 && steps % 8 == 1) ||
        (plant_ == Plant::wrong_buffer && steps > 1 && steps % 2 == 1)) {
      --steps;
    }
    if (plant_ == Plant::stale_band) {
      std::ranges::copy(field_.cells(), first_.cells().begin());
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      std::ranges::copy(field_.cells(), old_.cells().begin());
      advance_reference(problem_, field_, 1);
      spoil();
    }
  }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance;
    if (plant_ == Plant::short_sweep) {
      provenance.sweep_depth = 8;
    }
    return provenance;
  }

 private:
  using OracleSession<T>::problem_;
  using OracleSession<T>::field_;

  // The step that field_ has made from old_.
  void spoil() {
    const std::int64_t nx = problem_.nx;
    const std::int64_t ny = problem_.ny;
    switch (plant_) {
      case Plant::last_odd_row: keep(0, nx, ny - ny % 2, ny); break;
      case Plant::vector_remainder: keep(nx - nx % 16, nx, 0, ny); break;
      case Plant::narrow_field: keep(0, nx < 8 ? 1 : 0, 0, ny); break;
      case Plant::transposed: keep(0, nx, std::min(nx, ny), ny); break;
      case Plant::flush: this->flush(field_.cells()); break;
      case Plant::flush_if_wide:
        if (nx >= 256) {
          this->flush(field_.cells());
        }
        break;
      case Plant::contract:
      case Plant::other_order:
      case Plant::float_factor:
      case Plant::scaled: again(0, nx, 0, ny); break;
      case Plant::stale_band: again(0, nx, ny / 8, ny / 8 + 1); break;
      case Plant::none:
      case Plant::second_upload:
      case Plant::short_sweep:
      case Plant::short_silent_sweep:
      case Plant::wrong_buffer: break;
      default: // boundaries
        again(0, nx, 0, 1);
        again(0, nx, ny - 1, ny);
        again(0, 1, 0, ny);
        again(nx - 1, nx, 0, ny);
    }
  }

  void keep(std::int64_t left, std::int64_t right, std::int64_t top, std::int64_t bottom) {
    for (std::int64_t y = top; y < bottom; ++y) {
      std::copy(old_.row(y) + left, old_.row(y) + right, field_.row(y) + left);
    }
  }
  void again(std::int64_t left, std::int64_t right, std::int64_t top, std::int64_t bottom) {
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = left; x < right; ++x) {
        field_.row(y)[x] = cell(x, y);
      }
    }
  }

  T cell(std::int64_t x, std::int64_t y) const {
    const T u = old_.row(y)[x];
    const T above = plant_ == Plant::stale_band && y > 0 ? first_.row(y - 1)[x] : at(x, y - 1);
    const T below = at(x, y + 1);
    const T before = at(x - 1, y);
    const T after = at(x + 1, y);
    const T lap = above + below + before + after - T{4} * u;
    const T factor = problem_.template update_factor<T>();
    switch (plant_) {
      case Plant::contract: return std::fma(factor, lap, u);
      case Plant::other_order: return u + factor * (before + after + above + below - T{4} * u);
      case Plant::float_factor: {
        const auto h = static_cast<float>(problem_.spacing);
        const float rounded =
            static_cast<float>(problem_.dt) * static_cast<float>(problem_.diffusivity) / (h * h);
        return u + static_cast<T>(rounded) * lap;
      }
      case Plant::scaled:
        return u +
               factor * ((T{4} * above + T{4} * below + T{4} * before + T{4} * after - T{16} * u) /
                         T{4});
      default: return u + factor * lap;
    }
  }

  // A cell of the state before the step, or a ghost cell.
  T at(std::int64_t x, std::int64_t y) const {
    const std::int64_t nx = problem_.nx;
    const std::int64_t ny = problem_.ny;
    const bool is_ghost = x < 0 || y < 0 || x >= nx || y >= ny;
    if (!is_ghost) {
      return old_.row(y)[x];
    }
    if (plant_ == Plant::no_wrap || (plant_ == Plant::no_wrap_if_large && nx * ny > 100'000)) {
      return 0;
    }
    const Field<T>& from = plant_ == Plant::ghosts_once ? first_ : old_;
    switch (problem_.boundary) {
      case Boundary::periodic: {
        const bool left_out = (plant_ == Plant::top_not_wrapped && y < 0) ||
                              (plant_ == Plant::bottom_not_wrapped && y >= ny) ||
                              (plant_ == Plant::left_not_wrapped && x < 0) ||
                              (plant_ == Plant::right_not_wrapped && x >= nx);
        if (left_out) {
          return 0;
        }
        if (plant_ == Plant::wrong_corner && x == nx && y == ny - 1) {
          return from.row(0)[0];
        }
        return from.row((y + ny) % ny)[(x + nx) % nx];
      }
      case Boundary::dirichlet:
        return plant_ == Plant::dirichlet_zero ? T{0} : static_cast<T>(problem_.boundary_value);
      case Boundary::neumann: break;
    }
    std::int64_t inner_x = std::clamp<std::int64_t>(x, 0, nx - 1);
    std::int64_t inner_y = std::clamp<std::int64_t>(y, 0, ny - 1);
    if (plant_ == Plant::neumann_mirror) {
      inner_x += x < 0 ? 1 : x == nx ? -1 : 0;
      inner_y += y < 0 ? 1 : y == ny ? -1 : 0;
    }
    if (plant_ == Plant::neumann_corner && y < 0 && x == 0) {
      inner_x = 1;
    }
    return from.row(inner_y)[inner_x];
  }

  Plant plant_;
  Field<T> old_;
  Field<T> first_; ///< of the first step, or of the call
  bool uploaded_ = false;
};

template <typename T, Plant plant>
std::unique_ptr<Session<T>> make_planted(const Problem& problem,
                                         const SessionOptions& /*options*/) {
  return std::make_unique<PlantedSession<T>>(problem, plant);
}

template <Plant plant>
BackendInfo planted_backend() {
  BackendInfo backend{.name = plant_names[static_cast<std::size_t>(plant)],
                      .description = "for tests"};
  backend.make_float32 = make_planted<float, plant>;
  backend.make_float64 = make_planted<double, plant>;
  return backend;
}

/// All that are wrong.
inline std::vector<BackendInfo> planted_backends() {
  return []<std::size_t... index>(std::index_sequence<index...>) {
    return std::vector{planted_backend<static_cast<Plant>(index + 1)>()...};
  }
  (std::make_index_sequence<std::size(plant_names) - 1>());
}

} // namespace diffbench::conformance
