// SPDX-License-Identifier: Apache-2.0
// Engine::forward() of any number of rows, for an engine whose halves take a batch at most.
#pragma once

#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace diffbench::mlp::cuda {

/// Blocks. The last batch may be smaller.
template <typename T>
void batched_forward(Engine<T>& engine, const Training& training, std::span<const T> features,
                     std::span<T> outputs) {
  const auto inputs = static_cast<std::size_t>(training.network.inputs());
  const auto classes = static_cast<std::size_t>(training.network.classes());
  const auto batch = static_cast<std::size_t>(training.batch);
  const std::size_t rows = features.size() / inputs;
  for (std::size_t row = 0; row < rows; row += batch) {
    const std::size_t count = std::min(batch, rows - row);
    engine.start_forward(features.subspan(row * inputs, count * inputs),
                         outputs.subspan(row * classes, count * classes));
    engine.finish_forward();
  }
}

} // namespace diffbench::mlp::cuda
