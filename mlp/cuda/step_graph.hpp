// SPDX-License-Identifier: Apache-2.0
// The work of a step as CUDA graphs: one for the whole step, or with clocks in it one for each
// part, since the times of what lies inside a graph cannot be had.
#pragma once

#include "diffbench/gpu/graph.hpp"
#include "step_clock.hpp"

#include <functional>
#include <vector>

namespace diffbench::mlp::cuda {

struct StepPart {
  Part part;
  std::function<void()> issue;
};

class StepGraph {
 public:
  StepGraph() = default;
  StepGraph(const gpu::Stream& stream, const StepClock& clock, const std::vector<StepPart>& parts) {
    if (clock.on()) {
      for (const StepPart& part : parts) {
        graphs_.push_back({part.part, gpu::Graph::capture(stream, part.issue)});
      }
    } else {
      graphs_.push_back({parts.front().part, gpu::Graph::capture(stream, [&] {
                           for (const StepPart& part : parts) {
                             part.issue();
                           }
                         })});
    }
  }

  /// Does not block.
  void launch(const gpu::Stream& stream, StepClock& clock) const {
    clock.on_host(&StepTimes::launch, [&] {
      for (const Recorded& recorded : graphs_) {
        clock.on_device(stream, recorded.part, [&] { recorded.graph.launch(stream); });
      }
    });
  }

 private:
  struct Recorded {
    Part part;
    gpu::Graph graph;
  };
  std::vector<Recorded> graphs_;
};

} // namespace diffbench::mlp::cuda
