// A graph of work on two buffers that change places: recorded once for each order of the buffers.
#pragma once

#include "diffbench/gpu/graph.hpp"
#include "diffbench/gpu/stream.hpp"

#include <functional>
#include <map>

namespace diffbench::kernels {

class RepeatedGraph {
 public:
  /// Launches the graph of `work` that was recorded when the current buffer was `current`,
  /// recording it first if need be. `work` must leave the buffers in the order in which it found
  /// them. Does not block.
  void launch(const gpu::Stream& stream, const void* current, const std::function<void()>& work) {
    gpu::Graph& graph = graphs_[current];
    if (graph.empty()) {
      graph = gpu::Graph::capture(stream, work);
    }
    graph.launch(stream);
  }

 private:
  std::map<const void*, gpu::Graph> graphs_;
};

} // namespace diffbench::kernels
