// SPDX-License-Identifier: Apache-2.0
// Time steps on the two buffers of a field as graphs, recorded when a number of steps is first
// asked for.
#pragma once

#include "device_field.hpp"

#include "diffbench/gpu/graph.hpp"
#include "diffbench/gpu/stream.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>

namespace diffbench::kernels {

template <typename T>
class RepeatedGraph {
 public:
  using Issue = std::function<void(std::int64_t steps)>;

  /// Launches what issue(steps) issues on `stream` and does to the order of `field`. Does not
  /// block.
  ///
  /// A number of steps that is new is recorded for both orders of the buffers at once: an odd
  /// number of launches leaves them changed over, and the next call of the same kind, which may be
  /// one that is timed, begins with the other.
  void launch(const gpu::Stream& stream, DeviceField<T>& field, std::int64_t steps,
              const Issue& issue) {
    auto found = recorded_.find(steps);
    if (found == recorded_.end()) {
      if (recorded_.size() == most_recorded) {
        recorded_.clear(); // those that run are freed when they are done (cudaGraphExecDestroy)
      }
      found = recorded_.emplace(steps, record(stream, field, steps, issue)).first;
    }
    found->second.graphs[field.order()].launch(stream);
    if (found->second.changes_over) {
      field.swap();
    }
  }

 private:
  struct Recorded {
    std::array<gpu::Graph, 2> graphs; ///< by the order of the buffers
    bool changes_over = false;
  };

  static Recorded record(const gpu::Stream& stream, DeviceField<T>& field, std::int64_t steps,
                         const Issue& issue) {
    Recorded recorded;
    for (int i = 0; i < 2; ++i) {
      const std::size_t order = field.order();
      recorded.graphs[order] = gpu::Graph::capture(stream, [&] { issue(steps); });
      recorded.changes_over = field.order() != order;
      if (!recorded.changes_over) {
        field.swap(); // to the other order, and the second time back
      }
    }
    return recorded;
  }

  static constexpr std::size_t most_recorded = 8;
  std::map<std::int64_t, Recorded> recorded_; ///< by steps
};

} // namespace diffbench::kernels
