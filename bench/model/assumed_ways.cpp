// SPDX-License-Identifier: Apache-2.0
#include "assumed_ways.hpp"

#include "assumed_end.hpp"
#include "assumed_phases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// Of calls that are calibrated in words, where no way takes several steps a launch.
constexpr std::int64_t usual_steps = 8;
constexpr std::int64_t most_steps = 1024;

/// Sides that are calibrated in words: close, since the model interpolates between them.
constexpr double smallest_modelled = 16;
constexpr double largest_modelled = 65536;
const double side_step = std::sqrt(2.0);

/// Bytes that a launch of several steps moves, of those that a step moves. Warps that stream down
/// strips load `steps` columns on each side and `3 steps` rows that they do not store
/// (kernels/src/streamed.cuh). At best strips are so long that these rows do not count; at worst
/// they store 4 rows a step, the least that pays (kernels/src/tile_plan.cpp).
double halo_traffic(const AssumedEnd& end, std::int64_t steps) {
  const double columns = end.work().dtype == Dtype::float32 ? 256 : 128; // 32 lanes of 32 bytes
  const double loaded =
      columns / (columns - 2.0 * static_cast<double>(steps)) * (end.fast() ? 1 : 1 + 3.0 / 4);
  return (1 + loaded) / 2;
}

/// Of so many steps of all cells in one kernel.
double memory_seconds(const AssumedEnd& end, double cells, std::int64_t steps) {
  const double arrays = cells * end.work().bytes;
  return arrays * (steps > 1 ? halo_traffic(end, steps) : 1) / end.bandwidth(arrays);
}
double instruction_seconds(const AssumedEnd& end, double cells, std::int64_t steps) {
  return static_cast<double>(steps) * end.instructions(cells);
}

/// An end of a card, with copies from and to one kind of memory.
class End : public AssumedEnd {
 public:
  End(const AssumedCard& card, const CellWork& work, Transfer transfer, Bound bound)
      : AssumedEnd(card, work, bound), pageable_(transfer == Transfer::pageable) {}

  [[nodiscard]] double kernel(double cells, std::int64_t steps) const {
    return std::max(memory_seconds(*this, cells, steps), instruction_seconds(*this, cells, steps));
  }

  /// `steps_seconds` gives those of a call, but for the first launch and the wait.
  [[nodiscard]] WayCost way(
      std::string backend, const std::function<double(double, std::int64_t)>& steps_seconds) const {
    WayCost way{.backend = std::move(backend),
                .device = DeviceKind::cuda,
                .dtype = std::string(to_string(work().dtype)),
                .grids = {}};
    for (double side = smallest_modelled; side <= largest_modelled * 1.01; side *= side_step) {
      const std::int64_t whole = std::llround(side);
      const auto cells = static_cast<double>(whole * whole);
      const double bytes = cells * work().copied_bytes;
      const double pinning = pageable_ ? 0 : pin_seconds(*this, bytes);
      GridCost grid{.side = whole,
                    .setup_seconds = time(card().context) + pinning,
                    .copy_in_seconds = copy_seconds(*this, bytes, CopyTo::card, !pageable_),
                    .copy_out_seconds = copy_seconds(*this, bytes, CopyTo::host, !pageable_),
                    .steps = {}};
      const std::int64_t sweep = work().per_sweep > 1 ? work().per_sweep : usual_steps;
      for (const std::int64_t steps : {std::int64_t{1}, sweep, 2 * sweep, most_steps}) {
        grid.steps.push_back(
            {steps, launch() + time(card().synchronize) + steps_seconds(cells, steps)});
      }
      way.grids.push_back(std::move(grid));
    }
    return way;
  }

 private:
  bool pageable_;
};

std::vector<WayCost> ways_at(const End& end) {
  std::vector<WayCost> ways{
      end.way("cuda_stream",
              [&](double cells, std::int64_t steps) {
                return static_cast<double>(steps) *
                       std::max(end.launch(), end.graph_launch() + end.kernel(cells, 1));
              }),
      end.way("cuda_graph", [&](double cells, std::int64_t steps) {
        return static_cast<double>(steps) * (end.graph_launch() + end.kernel(cells, 1));
      })};
  const std::int64_t sweep = end.work().per_sweep;
  if (sweep > 1) {
    ways.push_back(end.way("cuda", [&](double cells, std::int64_t steps) {
      const std::int64_t whole = steps / sweep;
      const std::int64_t rest = steps % sweep;
      return static_cast<double>(whole) * (end.graph_launch() + end.kernel(cells, sweep)) +
             (rest > 0 ? end.graph_launch() + end.kernel(cells, rest) : 0);
    }));
  }
  return ways;
}

} // namespace

std::vector<AssumedWay> assumed_ways(const AssumedCard& card, const CellWork& work,
                                     Transfer transfer) {
  std::vector<WayCost> fast = ways_at(End(card, work, transfer, End::Bound::fast));
  std::vector<WayCost> slow = ways_at(End(card, work, transfer, End::Bound::slow));
  std::vector<AssumedWay> ways;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    ways.push_back({std::move(fast[i]), std::move(slow[i])});
  }
  return ways;
}

std::vector<AssumedWay> assumed_ways(const AssumedCard& card, Dtype dtype, Transfer transfer) {
  return assumed_ways(card, stencil_work(dtype), transfer);
}

WarmParts warm_parts(const AssumedEnd& end, std::string_view backend, const Prediction& prediction,
                     const RunShape& run) {
  WarmParts parts{.copies = prediction.warm_seconds - prediction.steps_seconds};
  const double one_step = std::max(memory_seconds(end, run.cells, 1), //
                                   instruction_seconds(end, run.cells, 1));
  if (backend == "cuda_stream" && end.launch() > end.graph_launch() + one_step) {
    parts.launches = prediction.steps_seconds; // shorter kernels run meanwhile
    return parts;
  }
  const auto add_kernels = [&](std::int64_t steps, double times) {
    const double memory = memory_seconds(end, run.cells, steps);
    const double instructions = instruction_seconds(end, run.cells, steps);
    parts.launches += times * end.graph_launch();
    (memory >= instructions ? parts.memory : parts.instructions) +=
        times * std::max(memory, instructions);
  };
  const std::int64_t sweep = backend == "cuda" ? end.work().per_sweep : 1;
  for (const auto& [steps, times] : stretches_of(run)) {
    parts.launches += times * (end.launch() + end.time(end.card().synchronize));
    const std::int64_t whole = steps / sweep;
    add_kernels(sweep, times * static_cast<double>(whole));
    if (steps % sweep > 0) {
      add_kernels(steps % sweep, times);
    }
  }
  parts.launches = std::min(parts.launches, prediction.steps_seconds);
  // Between two grids of the model the rest may be off the kernels' time.
  const double scale =
      (prediction.steps_seconds - parts.launches) / (parts.memory + parts.instructions);
  parts.memory *= scale;
  parts.instructions *= scale;
  return parts;
}

double device_bytes(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.cells()) * static_cast<double>(problem.element_bytes());
}

} // namespace diffbench::bench
