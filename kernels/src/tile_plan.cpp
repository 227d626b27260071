// SPDX-License-Identifier: Apache-2.0
#include "tile_plan.hpp"

#include "diffbench/build_stamp.hpp"
#include "diffbench/errors.hpp"
#include "instruction_counts.hpp"

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

// Figures of the model, beside the instructions counted in the kernels: published properties of an
// H200 and published costs, not fitted. Only which candidates are worth a measurement depends on
// them, and nothing has been measured yet.
struct Card {
  double clock_hz;
  double memory_bandwidth; // bytes a second
  // Of the cycles, in which a scheduler with two warps of cuda_streamed issues. Assumed: some of
  // what one warp waits for, the other cannot hide.
  double issue_share;
};
constexpr Card slow_card = {1.75e9, 4.1e12, 0.8};
constexpr Card quick_card = {1.98e9, 4.3e12, 1};
constexpr double issue_lanes = 128; // instructions of a thread that a multiprocessor issues a cycle
constexpr double float64_lanes = 64;  // of them float64 arithmetic
constexpr double arithmetic = 6;      // instructions of a cell: four additions, an fma, a product
constexpr double shared_lanes = 32;   // times 4 bytes through shared memory or a shuffle a cycle
constexpr double block_barrier = 76;  // cycles, with the latency of shared memory
constexpr double launch_gap = 1.3e-6; // seconds from one kernel of a graph to the next
constexpr double l2_latency = 0.3e-6;
constexpr double l2_bandwidth = 5.5e12; // bytes a second
// Cycles of an exchange beside its instructions: two barriers, the wait for the block's stores, a
// flag's way to L2, a poll, and the load of a halo; of a numbered one only a packet's way and a
// poll.
constexpr double flag_latency = 80 + 450 + 200 + 350 + 330;
constexpr double packet_latency = 200 + 350;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Shapes worth a thought: regions of 16 to 128 columns and 8 to 256 rows, depths that are worth a
// halo. But for the shallowest they are multiples of a quad, with which tiles are accessed 16 bytes
// at a time.
constexpr std::array block_widths = {8, 16, 32};
// With fewer, what fills and empties the levels would be most of a strip's work.
constexpr int least_strip_rows = 4 * streamed_depth;
constexpr int most_block_y = 64;
constexpr std::array depths = {1, 2, 4, 8, 12, 16, 20};

// The blocks of `plan` that a multiprocessor holds, 0 when it does not fit. A plan that an old or
// damaged cache holds may be anything.
int resident_if_it_fits(const TilePlan& plan, const Problem& problem, const TileDevice& device) {
  const Dtype dtype = problem.dtype;
  // A row of threads is a warp or an even part of one (register_tile.cuh).
  const bool a_shape = std::ranges::find(block_widths, plan.block_x) != block_widths.end() &&
                       plan.block_y >= 1 && plan.block_y <= most_block_y &&
                       plan.threads() % warp_lanes == 0 && plan.threads() <= most_tile_threads &&
                       plan.depth >= 1 && plan.depth <= depths.back() &&
                       plan.tile_width(dtype) >= 1 && plan.tile_height(dtype) >= 1;
  if (!a_shape) {
    return 0;
  }
  if (is_streamed(plan.kernel)) {
    const Area strips = streamed_areas(problem).strips;
    const int height = strips.bottom - strips.top;
    const bool rows_fit = height == 0 ? plan.rows == 0
                                      : plan.rows >= least_strip_rows &&
                                            plan.rows <= std::max(least_strip_rows, height);
    if (plan.depth != streamed_depth || !rows_fit) {
      return 0;
    }
  }
  const Area whole = whole_of(problem);
  const std::int64_t tiles = plan.tiles_x(whole, dtype) * plan.tiles_y(whole, dtype);
  if (!is_persistent(plan.kernel)) {
    return tiles <= std::numeric_limits<int>::max() ? device.resident_blocks(plan) : 0;
  }
  // What is exchanged are whole patches.
  const bool may_be_numbered =
      plan.depth % patch_height == 0 && packet_buffers(problem).patches > 0;
  if (!device.properties.cooperative_launch ||
      (plan.kernel == TileKernel::numbered && !may_be_numbered)) {
    return 0;
  }
  const int resident = device.resident_blocks(plan);
  return tiles <= std::int64_t{resident} * device.properties.multiprocessors ? resident : 0;
}

constexpr std::array kernel_names = {"blocked", "persistent", "numbered", "streamed", "swapped"};

// More than any chip holds, so that the memory of packets, three times the field, is known before
// the card is: 256 multiprocessors of 1024 threads, each with a patch of 64 bytes.
constexpr std::int64_t most_numbered_bytes = std::int64_t{256} * 1024 * 64;

const char* name_of(TileKernel kernel) { return kernel_names.at(static_cast<std::size_t>(kernel)); }

// What a choice depends on.
std::string key_of(std::span<const TileKernel> kernels, const Problem& problem,
                   const TileDevice& device) {
  std::ostringstream key;
  for (const TileKernel kernel : kernels) {
    key << name_of(kernel) << ' ';
  }
  key << to_string(problem.dtype) << ' ' << problem.nx << 'x' << problem.ny << ' '
      << to_string(problem.boundary) << ' ' << to_string(device.transfer) << ' '
      << device.properties.name;
  return key.str();
}

std::string text_of(const TileChoice& choice) {
  const TilePlan& plan = choice.plan;
  std::ostringstream text;
  text << build_stamp() << ' ' << name_of(plan.kernel) << ' ' << plan.block_x << ' ' << plan.block_y
       << ' ' << plan.depth << ' ' << plan.rows << ' ' << choice.step_seconds;
  return text.str();
}

// Whatever the numbers are: a choice counts only if this build measured it, and if it fits.
std::optional<TileChoice> choice_of(const std::string& text) {
  std::istringstream words(text);
  std::string stamp;
  std::string kernel;
  TilePlan plan;
  double step_seconds = 0;
  if (!(words >> stamp >> kernel >> plan.block_x >> plan.block_y >> plan.depth >> plan.rows >>
        step_seconds) ||
      stamp != build_stamp() || !(step_seconds > 0)) {
    return std::nullopt;
  }
  const auto* const name = std::ranges::find(kernel_names, kernel);
  if (name == kernel_names.end()) {
    return std::nullopt;
  }
  plan.kernel = static_cast<TileKernel>(name - kernel_names.begin());
  return TileChoice{plan, "cached", step_seconds};
}

} // namespace

int TilePlan::region_width(Dtype dtype) const {
  return block_x * (dtype == Dtype::float32 ? patch_width<float> : patch_width<double>);
}

int TilePlan::region_height(Dtype) const { return block_y * patch_height; }

std::int64_t TilePlan::shared_bytes() { return std::int64_t{2} * 2 * 16 * most_tile_threads; }

std::int64_t TilePlan::tiles_x(const Area& area, Dtype dtype) const {
  return ceil_div(area.right - area.left, tile_width(dtype));
}

std::int64_t TilePlan::tiles_y(const Area& area, Dtype dtype) const {
  return ceil_div(area.bottom - area.top, tile_height(dtype));
}

std::string TilePlan::describe(Dtype dtype) const {
  std::ostringstream text;
  switch (kernel) {
    case TileKernel::numbered: text << "persistent, numbered halos, "; break;
    case TileKernel::swapped: text << "streamed, swapped stores, "; break;
    default: text << name_of(kernel) << ", ";
  }
  if (is_streamed(kernel) && rows > 0) {
    text << "strips of " << strip_columns(dtype) << 'x' << rows << "; at edges ";
  }
  text << block_x << 'x' << block_y << " threads, tile " << tile_width(dtype) << 'x'
       << tile_height(dtype) << ", depth " << depth;
  return text.str();
}

Area whole_of(const Problem& problem) {
  return {0, 0, static_cast<int>(problem.nx), static_cast<int>(problem.ny)}; // max_extent fits
}

int strip_columns(Dtype dtype) {
  return dtype == Dtype::float32 ? strip_width<float> : strip_width<double>;
}

PacketBuffers packet_buffers(const Problem& problem) {
  const std::int64_t width = 16 / problem.element_bytes(); // of a patch
  const bool whole_patches = problem.boundary != Boundary::periodic ||
                             (problem.nx % width == 0 && problem.ny % patch_height == 0);
  if (!whole_patches || problem.field_bytes() > most_numbered_bytes) {
    return {};
  }
  const auto patches_x = static_cast<int>(ceil_div(problem.nx, width));
  return {nullptr, patches_x, patches_x * static_cast<int>(ceil_div(problem.ny, patch_height))};
}

std::int64_t packet_bytes(std::span<const TileKernel> kernels, const Problem& problem) {
  constexpr std::int64_t of_patch = 2 * packets_of_patch * sizeof(Packet); // two exchanges
  return std::ranges::find(kernels, TileKernel::numbered) == kernels.end()
             ? 0
             : of_patch * packet_buffers(problem).patches;
}

StreamedAreas streamed_areas(const Problem& problem) {
  const int quad = static_cast<int>(16 / problem.element_bytes());
  const bool periodic = problem.boundary == Boundary::periodic;
  const Area whole = whole_of(problem);
  StreamedAreas areas{
      .strips = whole, .wraps_columns = periodic && whole.right % quad == 0, .tiles = {}};
  Area& strips = areas.strips;
  if (!areas.wraps_columns) {
    strips.left = streamed_depth; // a multiple of a quad
    strips.right = (whole.right - streamed_depth) / quad * quad;
  }
  if (!periodic) {
    strips.top = streamed_depth;
    strips.bottom = whole.bottom - streamed_depth;
  }
  if (strips.right <= strips.left || strips.bottom <= strips.top) {
    strips = {};
    areas.tiles = {whole};
    return areas;
  }
  for (const Area& area :
       {Area{0, 0, whole.right, strips.top}, Area{0, strips.bottom, whole.right, whole.bottom},
        Area{0, strips.top, strips.left, strips.bottom},
        Area{strips.right, strips.top, whole.right, strips.bottom}}) {
    if (area.right > area.left && area.bottom > area.top) {
      areas.tiles.push_back(area);
    }
  }
  return areas;
}

namespace {

double cells_of(const Area& area) {
  return (1.0 * area.right - area.left) * (1.0 * area.bottom - area.top);
}

// Cycles of a multiprocessor for `instructions` of a thread, which are arithmetic on `cells` cells.
double cycles(Dtype dtype, double instructions, double cells) {
  const double issue = instructions / issue_lanes;
  return dtype == Dtype::float32 ? issue : std::max(issue, cells * arithmetic / float64_lanes);
}

const InstructionCounts& counts_of(TileKernel kernel, Dtype dtype) {
  const bool single = dtype == Dtype::float32;
  switch (kernel) {
    case TileKernel::blocked: return single ? blocked_float : blocked_double;
    case TileKernel::persistent: return single ? persistent_float : persistent_double;
    case TileKernel::numbered: return single ? numbered_float : numbered_double;
    case TileKernel::streamed: return single ? streamed_float : streamed_double;
    case TileKernel::swapped: break;
  }
  return single ? swapped_float : swapped_double;
}

// Seconds of a time step of `area` in tiles, by the model.
double tiled_seconds(const TilePlan& plan, int resident, const Area& area, Dtype dtype,
                     const gpu::Device& device, const Card& card) {
  const int multiprocessors = device.multiprocessors;
  const TileKernel kernel = is_streamed(plan.kernel) ? TileKernel::blocked : plan.kernel;
  const bool persistent = is_persistent(kernel);
  const bool numbered = kernel == TileKernel::numbered;
  const bool single = dtype == Dtype::float32;
  const InstructionCounts& count = counts_of(kernel, dtype);
  const double tiles = static_cast<double>(plan.tiles_x(area, dtype) * plan.tiles_y(area, dtype));
  const double region = 1.0 * plan.region_width(dtype) * plan.region_height(dtype);
  const double tile = 1.0 * plan.tile_width(dtype) * plan.tile_height(dtype);
  const double blocks = std::ceil(tiles / multiprocessors); // of the busiest multiprocessor
  // Each of its four schedulers has whole warps: as if all had as many as the one with most.
  const double threads = std::ceil(blocks * plan.threads() / issue_lanes) * issue_lanes;

  // A step: instructions of all blocks, or their edges through shared memory (two rows of 16 bytes,
  // each written and read) and shuffles (of two columns); and barriers, which resident blocks
  // share.
  const double words = 2 * 2 * 4 + 2 * patch_height * (single ? 1 : 2);
  const double step = (threads * std::max(cycles(dtype, count.step, region / plan.threads()),
                                          words / shared_lanes) +
                       std::ceil(blocks / resident) * block_barrier) /
                      card.clock_hz;
  // Between loads: the way in and out, the traffic (only halos and rings when persistent), and the
  // launch or barrier.
  const double around = threads * (count.load + count.store) / issue_lanes / card.clock_hz;
  const double halo = region - tile;
  const double ring = tile - std::max(0.0, 1.0 * plan.tile_width(dtype) - 2 * plan.depth) *
                                 std::max(0.0, 1.0 * plan.tile_height(dtype) - 2 * plan.depth);
  const double bytes = (single ? 4 : 8) * (numbered ? packets_of_patch / 4.0 : 1);
  const double moved = tiles * (persistent ? halo + ring : region + tile) * bytes;
  const bool in_l2 = 2 * cells_of(area) * (single ? 4 : 8) < static_cast<double>(device.l2_bytes);
  const double traffic = moved / (in_l2 ? l2_bandwidth : card.memory_bandwidth);
  if (persistent) { // what one warp accesses moves while another issues
    const double latency = (numbered ? packet_latency : flag_latency) / card.clock_hz;
    return step + (std::max(around, traffic) + latency) / plan.depth;
  }
  return step + (around + traffic + l2_latency + launch_gap) / plan.depth;
}

// The same in strips.
double streamed_seconds(const TilePlan& plan, int resident, const Area& area, Dtype dtype,
                        int multiprocessors, const Card& card) {
  const bool single = dtype == Dtype::float32;
  const int columns = strip_columns(dtype);
  const double strips = std::ceil((1.0 * area.right - area.left) / columns) *
                        std::ceil((1.0 * area.bottom - area.top) / plan.rows);
  // What fills and empties the levels is computed besides, and what lies beside a strip is loaded.
  const double rows = plan.rows + 3.0 * streamed_depth;
  const double loaded = columns + 2.0 * streamed_depth;
  const double waves = std::ceil(strips / (1.0 * resident * multiprocessors));
  const double lane =
      loaded / warp_lanes * streamed_depth; // cells of a lane in a row of all levels
  const double row = resident * warp_lanes *
                     cycles(dtype, counts_of(plan.kernel, dtype).step, lane) /
                     (card.clock_hz * card.issue_share);
  // A warp has one row under way at a time.
  const double computed = waves * rows * std::max(row, l2_latency);
  const double came = strips * rows * loaded * (single ? 4 : 8);
  const double went = strips * plan.rows * columns * (single ? 4 : 8);
  // L2 has as much to do with half a sector as with a whole one.
  const double sectors = came + went * (plan.kernel == TileKernel::swapped ? 1 : 2);
  const double moving = std::max((came + went) / card.memory_bandwidth, sectors / l2_bandwidth);
  return (std::max(computed, moving) + launch_gap) / streamed_depth;
}

double predicted_step_seconds(const TilePlan& plan, int resident, const Problem& problem,
                              const gpu::Device& device, const Card& card) {
  if (!is_streamed(plan.kernel)) {
    return tiled_seconds(plan, resident, whole_of(problem), problem.dtype, device, card);
  }
  const StreamedAreas areas = streamed_areas(problem);
  double seconds = cells_of(areas.strips) > 0
                       ? streamed_seconds(plan, resident, areas.strips, problem.dtype,
                                          device.multiprocessors, card)
                       : 0;
  for (const Area& area : areas.tiles) {
    seconds += tiled_seconds(plan, 1, area, problem.dtype, device, card);
  }
  return seconds;
}

// What to measure of one kernel's candidates, the model's favourite first. The model cannot know
// how much more resident blocks hide of what it leaves out, so each of these
// classes has its say, with its best and another that differs in shape and depth: near-duplicates
// would measure the noise. Twice the predicted time is beyond the model's error.
std::vector<TileCandidate> favourites(const std::vector<TileCandidate>& sorted) {
  std::map<int, std::vector<TilePlan>> classes;
  std::vector<TileCandidate> chosen;
  for (const TileCandidate& candidate : sorted) {
    if (candidate.predicted_seconds > 2 * sorted.front().predicted_seconds) {
      break;
    }
    const TilePlan& plan = candidate.plan;
    std::vector<TilePlan>& peers = classes[std::min(candidate.resident_blocks, 3)];
    const bool differs = std::ranges::all_of(peers, [&plan](const TilePlan& peer) {
      return peer.rows != plan.rows || (peer.depth != plan.depth && (peer.block_x != plan.block_x ||
                                                                     peer.block_y != plan.block_y));
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

// The quickest of `plans` by the median of interleaved rounds, after as many that an idle device's
// clock has risen; in them the kernels are loaded and graphs recorded. All run the same number of
// steps, a multiple of most depths: enough that a launch does not decide, and with a predicted time
// of `step_seconds` not so many that large grids take seconds.
TileChoice quickest(const std::vector<TileCandidate>& candidates, const TileDevice& device,
                    double step_seconds) {
  constexpr int most_warm_rounds = 1000;
  constexpr int rounds = 5;
  const std::int64_t steps = 240 * step_seconds < 5e-3 ? 240 : 48;
  double warm = 0;
  for (int round = 0; warm < device.warm_seconds && round < most_warm_rounds; ++round) {
    for (const TileCandidate& candidate : candidates) {
      warm += device.seconds(candidate.plan, steps);
    }
  }
  std::vector<std::vector<double>> samples(candidates.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      samples[i].push_back(device.seconds(candidates[i].plan, steps));
    }
  }
  std::vector<double> medians;
  std::ranges::transform(samples, std::back_inserter(medians), median);
  const auto best = std::ranges::min_element(medians);
  return {candidates[static_cast<std::size_t>(best - medians.begin())].plan, "calibrated",
          *best / static_cast<double>(steps)};
}

} // namespace

std::vector<TileCandidate> tile_candidates(TileKernel kernel, const Problem& problem,
                                           const TileDevice& device) {
  std::vector<TileCandidate> candidates;
  const auto consider = [&](const TilePlan& plan) {
    if (const int resident = resident_if_it_fits(plan, problem, device); resident > 0) {
      const auto seconds = [&](const Card& card) {
        return predicted_step_seconds(plan, resident, problem, device.properties, card);
      };
      candidates.push_back({plan, resident, seconds(slow_card), seconds(quick_card)});
    }
  };
  if (is_streamed(kernel)) {
    TilePlan plan{kernel, 32, 8, streamed_depth, 0};
    const Area strips = streamed_areas(problem).strips;
    if (strips.right == 0) {
      consider(plan); // tiles only
      return candidates;
    }
    const std::int64_t side_by_side =
        ceil_div(strips.right - strips.left, strip_columns(problem.dtype));
    const std::int64_t resident =
        std::int64_t{device.resident_blocks(plan)} * device.properties.multiprocessors;
    // As many strips as fit at once, or in some rounds.
    for (const std::int64_t rounds : {1, 2, 3, 4}) {
      const std::int64_t below = std::max<std::int64_t>(1, rounds * resident / side_by_side);
      const int rows =
          std::max(least_strip_rows, static_cast<int>(ceil_div(strips.bottom - strips.top, below)));
      if (candidates.empty() || rows != plan.rows) {
        plan.rows = rows;
        consider(plan);
      }
    }
  } else {
    for (const int block_x : block_widths) {
      for (int block_y = 2; block_y <= most_block_y; block_y += 2) {
        for (const int depth : depths) {
          consider({kernel, block_x, block_y, depth, 0});
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
  const std::string key = key_of(kernels, problem, device);
  if (measured && !retune) {
    const std::optional<TileChoice> cached = choice_of(cache.find(key).value_or(""));
    if (cached && std::ranges::find(kernels, cached->plan.kernel) != kernels.end() &&
        resident_if_it_fits(cached->plan, problem, device) > 0) {
      return *cached;
    }
  }
  std::vector<TileCandidate> candidates;
  for (const TileKernel kernel : kernels) {
    // Without strips they would be cuda_blocked by another name.
    const bool only_tiles = is_streamed(kernel) && streamed_areas(problem).strips.right == 0;
    if (only_tiles && kernel != kernels.front()) {
      continue;
    }
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
    return {likely.plan, "model", likely.predicted_seconds};
  }
  TileChoice best = quickest(candidates, device, likely.predicted_seconds);
  try {
    cache.store(key, text_of(best));
  } catch (const Error&) {
    // The choice was measured; that it cannot be remembered only costs milliseconds next time.
  }
  return best;
}

std::int64_t launch_steps(const TileChoice& choice) {
  constexpr double launch_seconds = 0.2;
  constexpr double most_sweeps = 1e12; // of a plan without a time
  const double sweeps = launch_seconds / (choice.step_seconds * choice.plan.depth);
  return choice.plan.depth * static_cast<std::int64_t>(std::clamp(sweeps, 1.0, most_sweeps));
}

} // namespace diffbench::kernels
