#include "tile_plan.hpp"

#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace diffbench::kernels {

namespace {

// Figures of the model. From published properties of recent cards, not fitted: only which
// candidates are worth a measurement depends on them.
constexpr double clock_hz = 1.7e9;
constexpr double lanes = 128;                 // arithmetic lanes of a multiprocessor, float32
constexpr double instructions_per_cell = 7.5; // 6 of arithmetic, and the edges' share
constexpr double barrier_seconds = 40e-9;     // of a block, with the latency of shared memory
constexpr double launch_seconds = 1.3e-6;     // from one kernel of a graph to the next
constexpr double grid_barrier_seconds = 1.2e-6;
constexpr double bytes_per_second = 4e12;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Shapes worth a thought: regions from 32 to 128 cells a side, depths that are worth a halo. But
// for the shallowest they are multiples of a quad, with which tiles are accessed 16 bytes at a
// time.
constexpr int most_block_x = 64;
constexpr int most_block_y = 32;
constexpr std::array depths = {1, 2, 4, 8, 12, 16, 20};

// The blocks of `plan` that a multiprocessor holds, 0 when it does not fit. A plan that an old or
// damaged cache holds may be anything.
int resident_if_it_fits(const TilePlan& plan, const Problem& problem, const TileDevice& device) {
  const Dtype dtype = problem.dtype;
  const bool a_shape = plan.block_x >= 1 && plan.block_x <= most_block_x && plan.block_y >= 1 &&
                       plan.block_y <= most_block_y && plan.depth >= 1 &&
                       plan.depth <= depths.back() && plan.tile_width(dtype) >= 1 &&
                       plan.tile_height(dtype) >= 1;
  if (!a_shape || plan.threads() > patch_size(plan.patch, dtype).max_threads ||
      plan.shared_bytes(dtype) > device.properties.shared_bytes_per_block) {
    return 0;
  }
  const std::int64_t tiles = plan.tiles_x(problem) * plan.tiles_y(problem);
  if (plan.kernel == TileKernel::blocked) {
    return tiles <= std::numeric_limits<int>::max() ? device.resident_blocks(plan) : 0;
  }
  if (plan.patch != Patch::small || !device.properties.cooperative_launch) {
    return 0;
  }
  const int resident = device.resident_blocks(plan);
  return tiles <= std::int64_t{resident} * device.properties.multiprocessors ? resident : 0;
}

const char* name_of(TileKernel kernel) {
  return kernel == TileKernel::blocked ? "blocked" : "persistent";
}

// What a choice depends on.
std::string key_of(std::span<const TileKernel> kernels, const Problem& problem,
                   const gpu::Device& device) {
  std::ostringstream key;
  for (const TileKernel kernel : kernels) {
    key << name_of(kernel) << ' ';
  }
  key << to_string(problem.dtype) << ' ' << problem.nx << 'x' << problem.ny << ' ' << device.name;
  return key.str();
}

std::string text_of(const TilePlan& plan) {
  std::ostringstream text;
  text << static_cast<int>(plan.kernel) << ' ' << static_cast<int>(plan.patch) << ' '
       << plan.block_x << ' ' << plan.block_y << ' ' << plan.depth;
  return text.str();
}

// Whatever the numbers are: a choice counts only if it is among today's candidates.
std::optional<TilePlan> plan_of(const std::string& text) {
  std::istringstream numbers(text);
  int kernel = 0;
  int patch = 0;
  TilePlan plan;
  if (!(numbers >> kernel >> patch >> plan.block_x >> plan.block_y >> plan.depth)) {
    return std::nullopt;
  }
  plan.kernel = kernel == 0 ? TileKernel::blocked : TileKernel::persistent;
  plan.patch = patch == 0 ? Patch::small : Patch::large;
  return plan;
}

} // namespace

PatchSize patch_size(Patch patch, Dtype dtype) {
  const bool wide = dtype == Dtype::float32;
  if (patch == Patch::small) {
    return {wide ? 4 : 2, 4, 640};
  }
  return {4, wide ? 8 : 4, 512};
}

std::int64_t TilePlan::shared_bytes(Dtype dtype) const {
  const PatchSize size = patch_size(patch, dtype);
  const std::int64_t element = dtype == Dtype::float32 ? 4 : 8;
  return element * 2 * 2 * (size.width + size.height) * threads();
}

std::int64_t TilePlan::tiles_x(const Problem& problem) const {
  return ceil_div(problem.nx, tile_width(problem.dtype));
}

std::int64_t TilePlan::tiles_y(const Problem& problem) const {
  return ceil_div(problem.ny, tile_height(problem.dtype));
}

std::string TilePlan::describe(Dtype dtype) const {
  const PatchSize size = patch_size(patch, dtype);
  std::ostringstream text;
  text << name_of(kernel) << ", " << block_x << 'x' << block_y << " threads, patch " << size.width
       << 'x' << size.height << ", tile " << tile_width(dtype) << 'x' << tile_height(dtype)
       << ", depth " << depth;
  return text.str();
}

namespace {

// Seconds of a time step by the model.
double predicted_step_seconds(const TilePlan& plan, int resident, const Problem& problem,
                              const gpu::Device& device) {
  const Dtype dtype = problem.dtype;
  const double depth = plan.depth;
  const double tiles =
      static_cast<double>(plan.tiles_x(problem)) * static_cast<double>(plan.tiles_y(problem));
  const double region = static_cast<double>(plan.region_width(dtype)) *
                        static_cast<double>(plan.region_height(dtype));
  const double per_multiprocessor = std::ceil(tiles / device.multiprocessors);
  const double waves = std::ceil(per_multiprocessor / resident);

  // Arithmetic of the blocks that share a multiprocessor, and the barriers of those that follow one
  // another. Half as many float64 lanes.
  const double rate = clock_hz * lanes * (dtype == Dtype::float32 ? 1.0 : 0.5);
  const double step =
      per_multiprocessor * region * instructions_per_cell / rate + waves * barrier_seconds;
  // Between loads: the launch or grid barrier, and the traffic (only rings when persistent).
  const double cells = plan.kernel == TileKernel::blocked
                           ? tiles * region + static_cast<double>(problem.cells())
                           : tiles * (region - static_cast<double>(plan.tile_width(dtype)) *
                                                   static_cast<double>(plan.tile_height(dtype)));
  const double traffic = cells * static_cast<double>(problem.element_bytes()) / bytes_per_second;
  const double gap = plan.kernel == TileKernel::blocked ? launch_seconds : grid_barrier_seconds;
  return step + (gap + traffic) / depth;
}

// What to measure of one kernel's candidates, the model's favourite first. The model cannot know
// how much more resident blocks, or another patch, hide of what it leaves out, so each of these
// classes has its say, with its best and another that differs in shape and depth: near-duplicates
// would measure the noise. Twice the predicted time is beyond the model's error.
std::vector<TileCandidate> favourites(const std::vector<TileCandidate>& sorted) {
  std::map<std::pair<Patch, int>, std::vector<TilePlan>> classes;
  std::vector<TileCandidate> chosen;
  for (const TileCandidate& candidate : sorted) {
    if (candidate.predicted_seconds > 2 * sorted.front().predicted_seconds) {
      break;
    }
    const TilePlan& plan = candidate.plan;
    std::vector<TilePlan>& peers = classes[{plan.patch, std::min(candidate.resident_blocks, 3)}];
    const bool differs = std::ranges::all_of(peers, [&plan](const TilePlan& peer) {
      return peer.depth != plan.depth &&
             (peer.block_x != plan.block_x || peer.block_y != plan.block_y);
    });
    if (peers.size() < 2 && differs) {
      peers.push_back(plan);
      chosen.push_back(candidate);
    }
  }
  return chosen;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The quickest of `plans` by the median of interleaved rounds, after a round of warm-up, in which
// the kernels are loaded and graphs recorded. All run the same number of steps, a multiple of most
// depths: enough that a launch does not decide, and with a predicted time of `step_seconds` not so
// many that large grids take seconds.
TilePlan quickest(const std::vector<TileCandidate>& candidates, const TileDevice& device,
                  double step_seconds) {
  constexpr int rounds = 5;
  const std::int64_t steps = 240 * step_seconds < 5e-3 ? 240 : 48;
  std::vector<std::vector<double>> samples(candidates.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double seconds = device.seconds(candidates[i].plan, steps);
      if (round > 0) {
        samples[i].push_back(seconds);
      }
    }
  }
  const auto best = std::ranges::min_element(samples, {}, median);
  return candidates[static_cast<std::size_t>(best - samples.begin())].plan;
}

} // namespace

std::vector<TileCandidate> tile_candidates(TileKernel kernel, const Problem& problem,
                                           const TileDevice& device) {
  std::vector<TileCandidate> candidates;
  for (const Patch patch : {Patch::small, Patch::large}) {
    for (int block_x = 8; block_x <= most_block_x; block_x += 4) {
      for (int block_y = 4; block_y <= most_block_y; block_y += 2) {
        for (const int depth : depths) {
          const TilePlan plan{kernel, patch, block_x, block_y, depth};
          if (const int resident = resident_if_it_fits(plan, problem, device); resident > 0) {
            candidates.push_back(
                {plan, resident,
                 predicted_step_seconds(plan, resident, problem, device.properties)});
          }
        }
      }
    }
  }
  std::ranges::stable_sort(candidates, {}, &TileCandidate::predicted_seconds);
  return candidates;
}

TileChoice choose_tile(std::span<const TileKernel> kernels, const Problem& problem,
                       const TileDevice& device, const LineCache& cache, bool retune) {
  const bool measured = static_cast<bool>(device.seconds);
  const std::string key = key_of(kernels, problem, device.properties);
  if (measured && !retune) {
    const std::optional<TilePlan> cached = plan_of(cache.find(key).value_or(""));
    if (cached && std::ranges::find(kernels, cached->kernel) != kernels.end() &&
        resident_if_it_fits(*cached, problem, device) > 0) {
      return {*cached, "cached"};
    }
  }
  std::vector<TileCandidate> candidates;
  for (const TileKernel kernel : kernels) {
    std::ranges::copy(favourites(tile_candidates(kernel, problem, device)),
                      std::back_inserter(candidates));
  }
  if (candidates.empty()) {
    throw Unavailable("a grid of " + std::to_string(problem.nx) + "x" + std::to_string(problem.ny) +
                      " in " + std::string(to_string(problem.dtype)) +
                      " does not fit on the chip of " + device.properties.name +
                      "; use cuda_blocked, which reads it tile by tile");
  }
  const TileCandidate& likely =
      *std::ranges::min_element(candidates, {}, &TileCandidate::predicted_seconds);
  if (!measured) {
    return {likely.plan, "model"};
  }
  const TilePlan best = quickest(candidates, device, likely.predicted_seconds);
  try {
    cache.store(key, text_of(best));
  } catch (const Error&) {
    // The choice was measured; that it cannot be remembered only costs milliseconds next time.
  }
  return {best, "calibrated"};
}

} // namespace diffbench::kernels
