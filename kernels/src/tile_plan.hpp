// SPDX-License-Identifier: Apache-2.0
// Which tile shape, depth and number of threads the register-tile kernels run with.
//
// What is best cannot be known before the card is, so there are three answers, each better than the
// one before: a model from the device's properties (a sound default), a calibration that measures
// the model's favourites on the device, and the cached result of an earlier calibration.
#pragma once

#include "diffbench/gpu/device.hpp"
#include "diffbench/line_cache.hpp"
#include "diffbench/problem.hpp"
#include "grid.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::kernels {

/// How time steps are divided into launches, and the grid among blocks.
enum class TileKernel {
  blocked,    ///< a launch every `depth` steps, any number of tiles
  persistent, ///< one cooperative launch: all tiles resident at once, halos and flags
  numbered,   ///< the same with halos that are their own flag
  streamed,   ///< a launch every streamed_depth steps, strips of columns; tiles for what is left
  swapped,    ///< the same with whole sectors stored
};
[[nodiscard]] constexpr bool is_persistent(TileKernel kernel) {
  return kernel == TileKernel::persistent || kernel == TileKernel::numbered;
}
[[nodiscard]] constexpr bool is_streamed(TileKernel kernel) {
  return kernel == TileKernel::streamed || kernel == TileKernel::swapped;
}

struct TilePlan {
  TileKernel kernel = TileKernel::blocked;
  int block_x = 0; ///< threads of a tile
  int block_y = 0;
  int depth = 1; ///< time steps between two loads, and halo in cells
  int rows = 0;  ///< of a strip; streamed or swapped only, and 0 where the grid has room for none

  [[nodiscard]] int region_width(Dtype dtype) const;
  [[nodiscard]] int region_height(Dtype dtype) const;
  [[nodiscard]] int tile_width(Dtype dtype) const { return region_width(dtype) - 2 * depth; }
  [[nodiscard]] int tile_height(Dtype dtype) const { return region_height(dtype) - 2 * depth; }
  [[nodiscard]] int threads() const { return block_x * block_y; }
  /// Of a block, whatever its shape: then all addresses but a few are known to the compiler.
  [[nodiscard]] static std::int64_t shared_bytes();
  [[nodiscard]] std::int64_t tiles_x(const Area& area, Dtype dtype) const;
  [[nodiscard]] std::int64_t tiles_y(const Area& area, Dtype dtype) const;

  /// "blocked, 16x26 threads, tile 40x80, depth 12", for provenance.
  [[nodiscard]] std::string describe(Dtype dtype) const;
  // clang-tidy 14 takes the 0 that is compared with for a pointer.
  auto operator<=>(const TilePlan&) const = default; // NOLINT(modernize-use-nullptr)
};

/// All cells of a grid.
[[nodiscard]] Area whole_of(const Problem& problem);

/// How streamed_steps and tiles share a grid, because the former knows no edge of it.
struct StreamedAreas {
  Area strips; ///< empty in small grids
  bool wraps_columns;
  std::vector<Area> tiles; ///< the rest, in up to four areas
};
[[nodiscard]] StreamedAreas streamed_areas(const Problem& problem);
/// Columns that a strip stores.
[[nodiscard]] int strip_columns(Dtype dtype);

/// Where numbered halos of this field are exchanged: patches, without their memory. No patches
/// where halos cannot be numbered: exchanged are whole patches, and the field must fit on a chip.
[[nodiscard]] PacketBuffers packet_buffers(const Problem& problem);
/// Bytes on the device that plans for `kernels` take beside the field: those of the packets.
[[nodiscard]] std::int64_t packet_bytes(std::span<const TileKernel> kernels,
                                        const Problem& problem);

/// What a choice asks of the device.
struct TileDevice {
  gpu::Device properties;
  Transfer transfer = Transfer::pageable; ///< where the field is: a plan is quick for one of them
  /// How many blocks of a plan a multiprocessor holds at once; 0: none. It depends on the registers
  /// that the compiler gave the kernel.
  std::function<int(const TilePlan&)> resident_blocks;
  /// Seconds that `steps` steps take. Empty for a device whose time means nothing.
  std::function<double(const TilePlan&, std::int64_t steps)> seconds;
  double warm_seconds = 0.05; ///< of work before the first measurement that counts
};

/// A plan that fits, and seconds of a time step by the model: with the least that is said of a card
/// of its kind, and with the most.
struct TileCandidate {
  TilePlan plan;
  int resident_blocks; ///< of the kernel, a multiprocessor
  double predicted_seconds;
  double least_seconds;
};

/// All plans for `kernel` that fit the device (for persistent and numbered: also the grid), the
/// model's favourite first. Empty when none fits.
[[nodiscard]] std::vector<TileCandidate> tile_candidates(TileKernel kernel, const Problem& problem,
                                                         const TileDevice& device);

/// A plan and how it was found: "model", "calibrated" or "cached".
struct TileChoice {
  TilePlan plan;
  std::string source;
  double step_seconds; ///< of a time step, measured where the plan was, else by the model
};

/// The most steps of one launch of a persistent plan, a multiple of its depth: some 0.2 s. A device
/// that drives a display ends a kernel of 2 s, and nobody can stop one before its end.
[[nodiscard]] std::int64_t launch_steps(const TileChoice& choice);

/// Chooses among the plans for `kernels`. Takes the cached choice if it still fits (unless
/// `retune`); else measures the model's favourites for each kernel and caches the best. Where the
/// device cannot be measured the model alone decides. Throws Unavailable when no plan fits.
[[nodiscard]] TileChoice choose_tile(std::span<const TileKernel> kernels, const Problem& problem,
                                     const TileDevice& device, const LineCache& cache, bool retune);

} // namespace diffbench::kernels
