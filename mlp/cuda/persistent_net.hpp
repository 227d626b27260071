// SPDX-License-Identifier: Apache-2.0
// How a network lies on the chip for cuda_persistent: in the shared memory of the blocks of one
// cluster, which are row_groups x feature_groups. The blocks of a row group share the rows of a
// batch; those of a feature group have the same weights, of the same outputs of each layer.
//
// With both, less travels between blocks than with either alone: values and deltas within a row
// group, gradients and weights within a feature group. Layers of few outputs are computed by all
// blocks of a row group, since that takes less time than a barrier.
#pragma once

#include "batch.hpp"
#include "step_state.hpp"

#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::mlp {
struct Training;
} // namespace diffbench::mlp

namespace diffbench::mlp::cuda {

inline constexpr int most_layers = 16;
inline constexpr int most_blocks = 16; ///< of a cluster
/// Threads of a block, of which a multiprocessor has one.
inline constexpr int persistent_threads = 512;
/// A layer of at most so many outputs is not divided.
inline constexpr int narrow = 32;
/// Gradients are computed in tiles, each by a warp and of so many times 16 bytes.
inline constexpr int tile_chunks = 128;

/// A number that others are divided by, quickly: 0 <= n * number < 2^32.
struct Divisor {
  std::int32_t number;
  std::uint32_t reciprocal; ///< 2^32 / number, rounded up

  [[nodiscard]] __host__ __device__ std::int32_t quotient(std::int32_t n) const {
    return number == 1 ? n
                       : static_cast<std::int32_t>(
                             std::uint64_t{static_cast<std::uint32_t>(n)} * reciprocal >> 32);
  }
};

[[nodiscard]] constexpr Divisor divisor(std::int32_t number) {
  const auto n = static_cast<std::uint64_t>(number);
  return {number, static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + n - 1) / n)};
}

/// Where a tile of the gradients lies in its layer. A table of them is in shared memory: to find
/// these takes longer than to use them.
struct alignas(16) GradientTile {
  std::int32_t deltas_at;  ///< of its first output
  std::int32_t values_at;  ///< of its first input
  std::int32_t weights_at; ///< of both
  std::uint8_t outputs;    ///< of the own ones that it has; 0: no such tile
  std::uint8_t inputs;     ///< that it has
  std::uint8_t lanes;      ///< side by side: 8, or for few outputs all 32
  std::uint8_t layer;
};

/// Outputs and inputs of a tile. A lane has four outputs, and as many inputs as numbers are in 16
/// bytes.
struct TileShape {
  std::int32_t outputs;
  std::int32_t inputs;
  std::int32_t lanes;
};

[[nodiscard]] __host__ __device__ inline TileShape tile_shape(std::int32_t own_outputs,
                                                              std::int32_t numbers) {
  return own_outputs <= 4 ? TileShape{4, 32 * numbers, 32} : TileShape{16, 8 * numbers, 8};
}

/// Plain data, for kernels. A level is what lies between layers: level l goes into layer l. Places
/// are in numbers from the beginning of shared memory, and the same in all blocks.
struct PersistentNet {
  int layers;
  int row_groups;
  int feature_groups;
  std::int32_t batch; ///< rows, at most
  std::int32_t rows;  ///< of a row group, at most
  std::int32_t pitch; ///< from a feature's row to the next: odd in units of 16 bytes, for the banks
  bool momentum;      ///< the optimizer has a first moment
  bool adam;          ///< and a second
  bool moments_on_chip; ///< or else in global memory, where each block has its own
  std::int32_t widths[most_layers + 1];
  /// Features of a level that a block has: all, or every feature group its own.
  std::int32_t own[most_layers + 1];
  Divisor own_divisor[most_layers + 1];
  Divisor row_chunks; ///< `rows` in units of 16 bytes
  /// Where a layer's weights and biases begin in the array of all parameters.
  std::int64_t weights_at[most_layers];
  std::int64_t biases_at[most_layers];

  std::int32_t rows_at[most_layers];         ///< weights, [own output][input]
  std::int32_t weight_pitch[most_layers];    ///< odd in units of 16 bytes
  std::int32_t slice_biases_at[most_layers]; ///< counted from all_biases_at
  std::int32_t all_biases_at;
  std::int32_t biases;                     ///< how many a block has
  std::int32_t values_at[most_layers + 1]; ///< [feature][row], all features
  std::int32_t deltas_at[most_layers + 1]; ///< [own feature][row]; none of level 0
  std::int32_t partials_at[2];             ///< of deltas: [feature group][own feature][row]
  /// The tiles of layer l are numbers tiles_at[l] to tiles_at[l + 1]. Tile t is summed up and
  /// updated by row group t % row_groups.
  std::int32_t tiles_at[most_layers + 1];
  std::int32_t memories_at;       ///< pointers to the shared memory of all blocks
  std::int32_t table_at;          ///< GradientTile, of own_tiles * row_groups
  std::int32_t own_tiles;         ///< of a block, at most
  std::int32_t portion;           ///< of these, as many as are exchanged at once
  std::int32_t gradients_at[2];   ///< [row group][tile of the portion][tile_chunks]; by turns
  std::int32_t bias_gradients_at; ///< [row group][own bias]
  /// Of the own tiles and behind them of the own biases: [tile][tile_chunks], then [bias]. The
  /// first, then the second moments.
  std::int32_t moments_at;
  std::int32_t moments;     ///< how many first ones a block has
  std::int32_t labels_at;   ///< of the rows: 32-bit
  std::int32_t losses_at;   ///< doubles: of each warp, then of each row group
  std::int32_t shared_size; ///< of everything

  [[nodiscard]] __host__ __device__ int blocks() const { return row_groups * feature_groups; }
  /// Is a level divided between the feature groups?
  [[nodiscard]] __host__ __device__ bool divided(int level) const {
    return own[level] < widths[level];
  }
  /// Have all portions of the gradients the same place, so that each waits until the last is used?
  [[nodiscard]] __host__ __device__ bool waits_for_place() const {
    return portions() > 1 && gradients_at[0] == gradients_at[1];
  }
  [[nodiscard]] __host__ __device__ int portions() const {
    return (own_tiles + portion - 1) / portion;
  }
};

/// What a launch works on, all in global memory.
template <typename T>
struct PersistentWork {
  ResidentRows<T> rows; ///< order: null for rows as they lie
  std::int64_t count;   ///< of rows in the order
  T* outputs;           ///< of persistent_forward, [row][class]
  T* parameters;        ///< as Network lays them out
  Moments<T> moments;   ///< likewise
  T* block_moments;     ///< of each block, when they are not on the chip: 2 x moments
  StepState<T>* state;
};

struct BlockGroups {
  int rows;
  int features;
};

/// The layout on so many blocks, for numbers of `bytes`, with the gradients in as few portions as
/// fit into `shared_bytes`, or else in the most: then it is too large.
[[nodiscard]] PersistentNet persistent_net(const Training& training, std::int64_t bytes,
                                           BlockGroups groups, std::int64_t shared_bytes);

/// Seconds of a step, from published figures; not measured. It orders layouts.
[[nodiscard]] double predicted_seconds(const PersistentNet& net, std::int64_t bytes);

/// Barriers of the cluster in a step.
[[nodiscard]] int barriers_of_step(const PersistentNet& net);

} // namespace diffbench::mlp::cuda
