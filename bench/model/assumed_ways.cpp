#include "assumed_ways.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// Per cell and step, from large fields to small tiles.
constexpr Assumption instructions{7.2, 25};
constexpr double arithmetic = 6; ///< of them
/// Steps a launch of `cuda`, and what its halos add to the traffic.
constexpr std::int64_t sweep_steps = 8;
constexpr double halo_traffic = 1.1;

/// Sides that are calibrated in words: close, since the model interpolates between them.
constexpr double smallest_modelled = 16;
constexpr double largest_modelled = 65536;
const double side_step = std::sqrt(2.0);

enum class Bound { fast, slow };

/// A card whose figures are all at one end.
class End {
 public:
  End(const AssumedCard& card, Dtype dtype, Transfer transfer, Bound bound)
      : card_(card),
        dtype_(dtype),
        pageable_(transfer == Transfer::pageable),
        fast_(bound == Bound::fast) {}

  [[nodiscard]] double time(const Assumption& span) const { return fast_ ? span.low : span.high; }
  [[nodiscard]] double rate(const Assumption& span) const { return fast_ ? span.high : span.low; }

  /// The time of so many steps of all cells in one kernel.
  [[nodiscard]] double kernel(double cells, std::int64_t steps) const {
    const auto count = static_cast<double>(steps);
    const double fields = 2 * cells * element();
    const double bandwidth = rate(fields <= rate(card_.l2) ? card_.l2_rate : card_.memory_rate);
    const double memory = fields * (steps > 1 ? halo_traffic : 1) / bandwidth;
    // An fma counts as two operations, and takes one instruction.
    const double issue = time(instructions) * cells / (rate(card_.float32_rate) / 2);
    const Assumption& own_rate = dtype_ == Dtype::float32 ? card_.float32_rate : card_.float64_rate;
    const double own_arithmetic = arithmetic * cells / (rate(own_rate) / 2);
    return std::max(memory, count * std::max(issue, own_arithmetic));
  }

  [[nodiscard]] double launch() const { return time(card_.launch); }
  [[nodiscard]] double graph_launch() const { return time(card_.graph_launch); }

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
      const double pinning = pageable_ ? 0 : time(card_.pin_call) + bytes * time(card_.pin_byte);
      GridCost grid{.side = whole,
                    .setup_seconds = time(card_.context) + pinning,
                    .copy_in_seconds = copy(bytes, card_.pageable_h2d, card_.pinned_h2d),
                    .copy_out_seconds = copy(bytes, card_.pageable_d2h, card_.pinned_d2h),
                    .steps = {}};
      for (const std::int64_t steps :
           {std::int64_t{1}, sweep_steps, 2 * sweep_steps, std::int64_t{1024}}) {
        grid.steps.push_back(
            {steps, launch() + time(card_.synchronize) + steps_seconds(cells, steps)});
      }
      way.grids.push_back(std::move(grid));
    }
    return way;
  }

 private:
  [[nodiscard]] double element() const { return dtype_ == Dtype::float32 ? 4 : 8; }
  [[nodiscard]] double copy(double bytes, const Assumption& pageable,
                            const Assumption& pinned) const {
    return time(card_.copy_call) + bytes / rate(pageable_ ? pageable : pinned);
  }

  const AssumedCard& card_;
  Dtype dtype_;
  bool pageable_, fast_;
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
  std::vector<WayCost> fast = ways_at(End(card, dtype, transfer, Bound::fast));
  std::vector<WayCost> slow = ways_at(End(card, dtype, transfer, Bound::slow));
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
