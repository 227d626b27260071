// SPDX-License-Identifier: Apache-2.0
// Initial fields.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace diffbench {

/// Which field a run starts from.
struct InitialField {
  enum class Kind {
    block,    ///< 0.005 in rows and columns int(0.4 n) up to int(0.5 n), zero elsewhere
    gaussian, ///< exp(-(dx^2/(2 (0.1 nx)^2) + dy^2/(2 (0.1 ny)^2))), dx = x - (nx-1)/2
    /// The slowest nonconstant discrete eigenmode. Periodic: sin(2 pi x/nx) sin(2 pi y/ny);
    /// dirichlet (around boundary_value): sin(pi (x+1)/(nx+1)) sin(pi (y+1)/(ny+1)); neumann:
    /// cos(pi (x+1/2)/nx) cos(pi (y+1/2)/ny).
    sine,
    random, ///< uniform in [0, 1), std::mt19937_64 from `seed`, 53 bits a cell
    file,   ///< the .npy file at `path`
  };
  Kind kind = Kind::block;
  std::uint64_t seed = 1;
  std::filesystem::path path;
};

/// A name of Kind other than file, or a path ending in .npy. Throws InvalidInput otherwise.
[[nodiscard]] InitialField parse_initial(std::string_view text);
[[nodiscard]] std::string to_string(const InitialField& initial);

/// Fills `field`, which has the problem's size, in place: spans of its cells stay valid.
/// Values are computed in double and rounded once.
/// For a file: throws InvalidInput when it cannot be used (see read_npy) or has another shape,
/// or holds values that are not finite.
template <typename T>
void fill_initial(const Problem& problem, const InitialField& initial, Field<T>& field);

/// The same in pieces: of a part of a field, or of one that no memory holds.
class InitialRows {
 public:
  InitialRows(const Problem& problem, const InitialField& initial)
      : problem_(problem), initial_(initial), generator_(initial.seed) {}

  /// Fills rows [first, first + cells.size() / nx) of the problem's field, none of which lies
  /// before the rows of an earlier call. Of a file only these rows are read and checked. Random
  /// cells before the first row are made and thrown away, once.
  template <typename T>
  void fill(std::int64_t first, std::span<T> cells);

 private:
  Problem problem_;
  InitialField initial_;
  std::mt19937_64 generator_;
  std::int64_t next_row_ = 0; ///< of the generator
};

} // namespace diffbench
