// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: work recorded once, launched many times.
#pragma once

#include "diffbench/gpu/stream.hpp"

#include <functional>

#include <cuda_runtime.h>

namespace diffbench::gpu {

namespace detail {
void destroy_graph_exec(cudaGraphExec_t graph) noexcept;
} // namespace detail

/// An instantiated graph.
class Graph {
 public:
  Graph() = default;
  /// Records what `work` issues on `stream` (thread-local capture: nothing runs) and instantiates
  /// it. Ends the capture also when `work` throws. Throws CudaError.
  static Graph capture(const Stream& stream, const std::function<void()>& work);

  /// Does not block.
  void launch(const Stream& stream) const;
  [[nodiscard]] bool empty() const { return exec_.get() == nullptr; }

 private:
  Owner<cudaGraphExec_t, detail::destroy_graph_exec> exec_;
};

} // namespace diffbench::gpu
