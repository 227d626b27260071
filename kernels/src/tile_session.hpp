// SPDX-License-Identifier: Apache-2.0
// The backends whose plan is chosen by tile_plan.hpp: cuda_blocked, cuda_streamed, cuda_persistent
// and cuda. They differ in the kernels among which it is chosen.
#pragma once

#include "diffbench/backend.hpp"
#include "grid_session.hpp"
#include "tile_plan.hpp"

#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace diffbench::kernels {

/// A session that runs the best plan for `kernels`. Throws Unavailable when none of them can hold
/// the grid, and as DeviceSession does.
template <typename T>
[[nodiscard]] std::unique_ptr<Session<T>> make_tile_session(const Problem& problem,
                                                            const SessionOptions& options,
                                                            std::span<const TileKernel> kernels);
extern template std::unique_ptr<Session<float>> make_tile_session(const Problem&,
                                                                  const SessionOptions&,
                                                                  std::span<const TileKernel>);
extern template std::unique_ptr<Session<double>> make_tile_session(const Problem&,
                                                                   const SessionOptions&,
                                                                   std::span<const TileKernel>);

/// A session that runs this choice, for tests. Throws as DeviceSession does.
template <typename T>
[[nodiscard]] std::unique_ptr<Session<T>> make_tile_session(const Problem& problem,
                                                            const TileChoice& choice);
extern template std::unique_ptr<Session<float>> make_tile_session(const Problem&,
                                                                  const TileChoice&);
extern template std::unique_ptr<Session<double>> make_tile_session(const Problem&,
                                                                   const TileChoice&);

template <TileKernel... Kernels>
[[nodiscard]] BackendInfo tile_backend(std::string_view name, std::string_view description,
                                       int ladder) {
  static constexpr std::array kernels = {Kernels...};
  BackendInfo backend = grid_backend(name, description, ladder);
  backend.memory_need = [](const Problem& problem, const SessionOptions& options) {
    MemoryNeed need = grid_memory_need(problem, options);
    need.device += packet_bytes(kernels, problem);
    return need;
  };
  backend.make_float32 = [](const Problem& problem, const SessionOptions& options) {
    return make_tile_session<float>(problem, options, kernels);
  };
  backend.make_float64 = [](const Problem& problem, const SessionOptions& options) {
    return make_tile_session<double>(problem, options, kernels);
  };
  return backend;
}

} // namespace diffbench::kernels
