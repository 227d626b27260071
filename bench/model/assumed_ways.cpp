// SPDX-License-Identifier: Apache-2.0
#include "assumed_ways.hpp"

#include "assumed_end.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// Steps a launch of `cuda`, and what its halos add to the traffic.
constexpr std::int64_t sweep_steps = 8;
constexpr double halo_traffic = 1.1;

/// Sides that are calibrated in words: close, since the model interpolates between them.
constexpr double smallest_modelled = 16;
constexpr double largest_modelled = 65536;
const double side_step = std::sqrt(2.0);

/// An end of a card, with copies from and to one kind of memory.
class End : public AssumedEnd {
 public:
  End(const AssumedCard& card, Dtype dtype, Transfer transfer, Bound bound)
      : AssumedEnd(card, dtype, bound), dtype_(dtype), pageable_(transfer == Transfer::pageable) {}

  /// The time of so many steps of all cells in one kernel.
  [[nodiscard]] double kernel(double cells, std::int64_t steps) const {
    const double fields = 2 * cells * element();
    const double memory = fields * (steps > 1 ? halo_traffic : 1) / bandwidth(fields);
    return std::max(memory, static_cast<double>(steps) * instructions(cells));
  }

  /// `steps_seconds` gives those of a call, but for the first launch and the wait.
  [[nodiscard]] WayCost way(
      std::string backend, const std::function<double(double, std::int64_t)>& steps_seconds) const {
    WayCost way{.backend = std::move(backend),
                .device = DeviceKind::cuda,
                .dtype = std::string(to_string(dtype_)),
                .grids = {}};
    for (double side = smallest_modelled; side <= largest_modelled * 1.01; side *= side_step) {
      const std::int64_t whole = std::llround(side);
      const auto cells = static_cast<double>(whole * whole);
      const double bytes = cells * element();
      const double pinning = pageable_ ? 0 : time(card().pin_call) + bytes * time(card().pin_byte);
      GridCost grid{
          .side = whole,
          .setup_seconds = time(card().context) + pinning,
          .copy_in_seconds = copies(1, bytes, pageable_ ? card().pageable_h2d : card().pinned_h2d),
          .copy_out_seconds = copies(1, bytes, pageable_ ? card().pageable_d2h : card().pinned_d2h),
          .steps = {}};
      for (const std::int64_t steps :
           {std::int64_t{1}, sweep_steps, 2 * sweep_steps, std::int64_t{1024}}) {
        grid.steps.push_back(
            {steps, launch() + time(card().synchronize) + steps_seconds(cells, steps)});
      }
      way.grids.push_back(std::move(grid));
    }
    return way;
  }

 private:
  [[nodiscard]] double element() const { return dtype_ == Dtype::float32 ? 4 : 8; }
  Dtype dtype_;
  bool pageable_;
};

std::vector<WayCost> ways_at(const End& end) {
  return {end.way("cuda_stream",
                  [&](double cells, std::int64_t steps) {
                    return static_cast<double>(steps) *
                           std::max(end.launch(), end.graph_launch() + end.kernel(cells, 1));
                  }),
          end.way("cuda_graph",
                  [&](double cells, std::int64_t steps) {
                    return static_cast<double>(steps) * (end.graph_launch() + end.kernel(cells, 1));
                  }),
          end.way("cuda", [&](double cells, std::int64_t steps) {
            const std::int64_t whole = steps / sweep_steps;
            const std::int64_t rest = steps % sweep_steps;
            return static_cast<double>(whole) *
                       (end.graph_launch() + end.kernel(cells, sweep_steps)) +
                   (rest > 0 ? end.graph_launch() + end.kernel(cells, rest) : 0);
          })};
}

} // namespace

std::vector<AssumedWay> assumed_ways(const AssumedCard& card, Dtype dtype, Transfer transfer) {
  std::vector<WayCost> fast = ways_at(End(card, dtype, transfer, End::Bound::fast));
  std::vector<WayCost> slow = ways_at(End(card, dtype, transfer, End::Bound::slow));
  std::vector<AssumedWay> ways;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    ways.push_back({std::move(fast[i]), std::move(slow[i])});
  }
  return ways;
}

double device_bytes(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.cells()) * static_cast<double>(problem.element_bytes());
}

} // namespace diffbench::bench
