#include "tile_plan.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <ostream>
#include <sstream>
#include <utility>

namespace diffbench::kernels {

namespace {

// Figures of the model. From published properties of recent cards, not fitted: only the order of
// the candidates matters, and the calibration corrects it.
constexpr double clock_hz = 1.7e9;
constexpr double lanes = 128;                 // arithmetic lanes of a multiprocessor, float32
constexpr double instructions_per_cell = 7.5; // 6 of arithmetic, and the edges' share
constexpr double barrier_seconds = 40e-9;     // of a block, with the latency of shared memory
constexpr double launch_seconds = 1.3e-6;     // from one kernel of a graph to the next
constexpr double grid_barrier_seconds = 1.2e-6;
constexpr double bytes_per_second = 4e12;
constexpr int registers_per_thread = 104; // the largest of the compiled kernels
constexpr std::size_t favourites_per_kernel = 6;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t blocks_per_multiprocessor(const TilePlan& plan, Dtype dtype,
                                       const gpu::Device& device) {
  const std::int64_t by_registers =
      device.registers_per_multiprocessor / (registers_per_thread * plan.threads());
  const std::int64_t by_shared =
      device.shared_bytes_per_multiprocessor / (plan.shared_bytes(dtype) + 1024);
  return std::min(by_registers, by_shared);
}

bool fits(const TilePlan& plan, const Problem& problem, const gpu::Device& device) {
  const Dtype dtype = problem.dtype;
  if (plan.tile_width(dtype) < 1 || plan.tile_height(dtype) < 1 ||
      plan.threads() > patch_size(plan.patch, dtype).max_threads ||
      plan.shared_bytes(dtype) > device.shared_bytes_per_block || plan.tiles_y(problem) > 65535) {
    return false;
  }
  const std::int64_t resident = blocks_per_multiprocessor(plan, dtype, device);
  if (plan.kernel == TileKernel::blocked) {
    return resident >= 1;
  }
  return plan.patch == Patch::small && device.cooperative_launch &&
         plan.tiles_x(problem) * plan.tiles_y(problem) <= resident * device.multiprocessors;
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

// The line of a choice: key, tab, five numbers.
std::string line_of(const std::string& key, const TilePlan& plan) {
  std::ostringstream line;
  line << key << '\t' << static_cast<int>(plan.kernel) << ' ' << static_cast<int>(plan.patch) << ' '
       << plan.block_x << ' ' << plan.block_y << ' ' << plan.depth << '\n';
  return line.str();
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

double predicted_step_seconds(const TilePlan& plan, const Problem& problem,
                              const gpu::Device& device) {
  const Dtype dtype = problem.dtype;
  const double depth = plan.depth;
  const double tiles =
      static_cast<double>(plan.tiles_x(problem)) * static_cast<double>(plan.tiles_y(problem));
  const double region = static_cast<double>(plan.region_width(dtype)) *
                        static_cast<double>(plan.region_height(dtype));
  const double resident = static_cast<double>(
      std::max<std::int64_t>(1, blocks_per_multiprocessor(plan, dtype, device)));
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

std::vector<TilePlan> tile_candidates(TileKernel kernel, const Problem& problem,
                                      const gpu::Device& device) {
  // Regions from 32 to 128 cells a side; depths that are worth a halo.
  constexpr std::array depths = {1, 2, 4, 6, 8, 10, 12, 14, 16, 20};
  std::vector<TilePlan> plans;
  for (const Patch patch : {Patch::small, Patch::large}) {
    for (int block_x = 8; block_x <= 64; block_x += 4) {
      for (int block_y = 4; block_y <= 32; block_y += 2) {
        for (const int depth : depths) {
          const TilePlan plan{kernel, patch, block_x, block_y, depth};
          if (fits(plan, problem, device)) {
            plans.push_back(plan);
          }
        }
      }
    }
  }
  std::ranges::stable_sort(plans, [&](const TilePlan& a, const TilePlan& b) {
    return predicted_step_seconds(a, problem, device) < predicted_step_seconds(b, problem, device);
  });
  return plans;
}

TileCache TileCache::standard() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return TileCache(std::filesystem::path(cache) / "diffbench" / "tiles");
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return TileCache(std::filesystem::path(home) / ".cache" / "diffbench" / "tiles");
  }
  return TileCache({});
}

std::optional<TilePlan> TileCache::find(const std::string& key) const {
  std::ifstream file(file_);
  std::optional<TilePlan> found;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size() + 1, key + '\t') != 0) {
      continue;
    }
    std::istringstream numbers(line.substr(key.size() + 1));
    int kernel = 0;
    int patch = 0;
    TilePlan plan;
    // Whatever the numbers are: a choice counts only if it is among today's candidates.
    if (numbers >> kernel >> patch >> plan.block_x >> plan.block_y >> plan.depth) {
      plan.kernel = kernel == 0 ? TileKernel::blocked : TileKernel::persistent;
      plan.patch = patch == 0 ? Patch::small : Patch::large;
      found = plan;
    }
  }
  return found;
}

void TileCache::store(const std::string& key, const TilePlan& plan) const {
  if (file_.empty()) {
    return;
  }
  std::string kept;
  std::ifstream old(file_);
  for (std::string line; std::getline(old, line);) {
    if (line.compare(0, key.size() + 1, key + '\t') != 0) {
      kept += line + '\n';
    }
  }
  try {
    std::filesystem::create_directories(file_.parent_path());
    write_atomically(file_, [&](std::ostream& out) { out << kept << line_of(key, plan); });
  } catch (const std::exception&) {
    // The choice was measured; that it cannot be remembered only costs milliseconds next time.
  }
}

TileChoice choose_tile(std::span<const TileKernel> kernels, const Problem& problem,
                       const gpu::Device& device, const TileCache& cache, bool retune,
                       const std::function<double(const TilePlan&)>& measure) {
  std::vector<TilePlan> all;
  std::vector<TilePlan> favourites;
  for (const TileKernel kernel : kernels) {
    const std::vector<TilePlan> plans = tile_candidates(kernel, problem, device);
    const auto count = static_cast<std::ptrdiff_t>(std::min(plans.size(), favourites_per_kernel));
    favourites.insert(favourites.end(), plans.begin(), plans.begin() + count);
    all.insert(all.end(), plans.begin(), plans.end());
  }
  if (all.empty()) {
    throw Unavailable("a grid of " + std::to_string(problem.nx) + "x" + std::to_string(problem.ny) +
                      " in " + std::string(to_string(problem.dtype)) +
                      " does not fit on the chip of " + device.name +
                      "; use cuda_blocked, which reads it tile by tile");
  }
  const bool measured = static_cast<bool>(measure);
  const std::string key = key_of(kernels, problem, device);
  if (measured && !retune) {
    const std::optional<TilePlan> cached = cache.find(key);
    if (cached && std::ranges::find(all, *cached) != all.end()) {
      return {*cached, "cached"};
    }
  }
  const TilePlan* best = nullptr;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (const TilePlan& plan : favourites) {
    const double seconds = measured ? measure(plan) : predicted_step_seconds(plan, problem, device);
    if (best == nullptr || seconds < best_seconds) {
      best = &plan;
      best_seconds = seconds;
    }
  }
  if (best_seconds == std::numeric_limits<double>::infinity()) {
    throw Unavailable(device.name + " refuses every tile shape for a grid of " +
                      std::to_string(problem.nx) + "x" + std::to_string(problem.ny));
  }
  if (measured) {
    cache.store(key, *best);
  }
  return {*best, measured ? "calibrated" : "model"};
}

} // namespace diffbench::kernels
