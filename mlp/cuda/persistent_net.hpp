// How a network lies on the chip for cuda_persistent: every block keeps, in shared memory, the
// weights of some outputs of each layer, which it needs forward, and those of some inputs, which it
// needs backward. The second copy costs memory and a third more arithmetic, and saves a reduction
// over all blocks for each layer.
#pragma once

#include "batch.hpp"
#include "step_state.hpp"

#include <cstdint>

namespace diffbench::mlp {
struct Training;
} // namespace diffbench::mlp

namespace diffbench::mlp::cuda {

inline constexpr int most_layers = 16;
/// Threads of a block, of which a multiprocessor has one.
inline constexpr int persistent_threads = 512;

/// Plain data, for kernels. Block b of `blocks` has the outputs and the inputs b, b + blocks, ...
/// of a layer, `slice(width)` of them at most.
struct PersistentNet {
  int layers;
  int blocks;
  std::int32_t batch; ///< rows, at most
  bool momentum;      ///< the optimizer has a first moment
  bool adam;          ///< and a second
  std::int32_t widths[most_layers + 1];
  /// Where a layer's weights and biases begin in the array of all parameters.
  std::int64_t weights_at[most_layers];
  std::int64_t biases_at[most_layers];
  /// Where a block has them in shared memory, in numbers: [output][input], [input][output] (not of
  /// layer 0), and biases.
  std::int32_t rows_at[most_layers];
  std::int32_t columns_at[most_layers];
  std::int32_t slice_biases_at[most_layers];
  std::int32_t slice_size;  ///< of all these; the moments lie behind, in the same order
  std::int32_t delta_at;    ///< gradient of the outputs, [class][row]
  std::int32_t shared_size; ///< of everything
  std::int64_t values_at[most_layers + 1]; ///< [feature][row] of a layer's inputs, in global memory
  std::int64_t values_size; ///< of all of them: once for values, once for deltas, both twice
};

/// What a launch works on, all in global memory.
template <typename T>
struct PersistentWork {
  ResidentRows<T> rows; ///< order: null for rows as they lie
  std::int64_t count;   ///< of rows in the order
  T* values;            ///< 2 x values_size
  T* deltas;            ///< likewise
  T* parameters;        ///< as Network lays them out
  Moments<T> moments;   ///< likewise
  StepState<T>* state;
};

[[nodiscard]] constexpr std::int32_t slice(std::int32_t width, int blocks) {
  return (width + blocks - 1) / blocks;
}

/// The layout on that many blocks.
[[nodiscard]] PersistentNet persistent_net(const Training& training, int blocks);

/// How many blocks pay, of those that a device can have: one, as long as a barrier between blocks
/// takes longer than what it would divide. Derived from published figures; not measured.
[[nodiscard]] int blocks_that_pay(const Training& training, int most_blocks);

} // namespace diffbench::mlp::cuda
