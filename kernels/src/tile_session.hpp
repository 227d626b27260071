// The session behind cuda_blocked, cuda_persistent and cuda: they differ in the kernels among which
// a plan is chosen.
#pragma once

#include "diffbench/gpu/launch.hpp"
#include "grid_session.hpp"
#include "repeated_graph.hpp"
#include "tile_kernels.cuh"
#include "tile_plan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

namespace diffbench::kernels {

template <typename T>
class TileSession : public GridSession<T> {
 protected:
  TileSession(const Problem& problem, const SessionOptions& options,
              std::span<const TileKernel> kernels)
      : GridSession<T>(problem, options) {
    // An emulated device has no time that means anything.
    std::function<double(const TilePlan&)> measure;
    if (!this->device().emulated) {
      measure = [this](const TilePlan& plan) { return measure_plan(plan); };
    }
    choice_ = choose_tile(kernels, problem, this->device(), TileCache::standard(), options.retune,
                          measure);
    allow_shared_memory(choice_.plan);
  }

  void enqueue(std::int64_t steps) override {
    const TilePlan& plan = choice_.plan;
    if (plan.kernel == TileKernel::blocked) {
      const std::int64_t per_graph = launches_per_graph * plan.depth;
      for (; steps >= per_graph; steps -= per_graph) {
        graphs_.launch(this->stream(), this->now(), [&] { issue(plan, per_graph); });
      }
    }
    issue(plan, steps);
  }

  [[nodiscard]] typename GridSession<T>::Details details() const override {
    return {{"tile", choice_.plan.describe(dtype_of<T>)}, {"tile_from", choice_.source}};
  }

 private:
  static constexpr Dtype dtype = dtype_of<T>;
  using BlockedKernel = void (*)(Grid<T>, TileShape, int, const T*, T*);
  using PersistentKernel = void (*)(Grid<T>, TileShape, std::int64_t, T*, T*);

  // Even, so that a graph leaves the two buffers as it found them.
  static constexpr std::int64_t launches_per_graph = 16;
  static constexpr int small_width = 16 / sizeof(T);
  static constexpr int large_height = 32 / sizeof(T);

  static BlockedKernel blocked_kernel(Patch patch) {
    return patch == Patch::small ? blocked_steps<T, small_width, 4, 640>
                                 : blocked_steps<T, 4, large_height, 512>;
  }
  static PersistentKernel persistent_kernel() { return persistent_steps<T, small_width, 4, 640>; }

  void allow_shared_memory(const TilePlan& plan) const {
    const auto bytes = static_cast<std::size_t>(plan.shared_bytes(dtype));
    if (plan.kernel == TileKernel::blocked) {
      gpu::allow_shared_memory(blocked_kernel(plan.patch), bytes);
    } else {
      gpu::allow_shared_memory(persistent_kernel(), bytes);
    }
  }

  void issue(const TilePlan& plan, std::int64_t steps) {
    const TileShape tile{plan.depth, plan.tile_width(dtype), plan.tile_height(dtype)};
    const gpu::LaunchShape shape{
        .grid = dim3(static_cast<unsigned>(plan.tiles_x(this->problem())),
                     static_cast<unsigned>(plan.tiles_y(this->problem()))),
        .block = dim3(static_cast<unsigned>(plan.block_x), static_cast<unsigned>(plan.block_y)),
        .shared_bytes = static_cast<std::size_t>(plan.shared_bytes(dtype)),
        .cooperative = plan.kernel == TileKernel::persistent};
    if (plan.kernel == TileKernel::persistent) {
      if (steps > 0) {
        gpu::launch(this->stream(), shape, persistent_kernel(), this->grid(), tile, steps,
                    this->now(), this->next());
        const std::int64_t exchanges = (steps + plan.depth - 1) / plan.depth - 1;
        if (exchanges % 2 == 0) {
          this->swap_fields();
        }
      }
      return;
    }
    while (steps > 0) {
      const int depth = static_cast<int>(std::min<std::int64_t>(steps, plan.depth));
      gpu::launch(this->stream(), shape, blocked_kernel(plan.patch), this->grid(), tile, depth,
                  this->now(), this->next());
      this->swap_fields();
      steps -= depth;
    }
  }

  // Seconds a step, of whatever lies in the buffers: a warm-up, then the better of two. Infinite
  // for a plan that the device refuses, because the model's count of resident blocks was too high.
  double measure_plan(const TilePlan& plan) {
    const std::int64_t steps = std::int64_t{4} * plan.depth;
    const gpu::Event begin;
    const gpu::Event end;
    double best = std::numeric_limits<double>::infinity();
    try {
      allow_shared_memory(plan);
      for (int repetition = 0; repetition < 3; ++repetition) {
        this->stream().record(begin);
        issue(plan, steps);
        this->stream().record(end);
        end.wait();
        if (repetition > 0) {
          best = std::min(best, end.seconds_since(begin) / static_cast<double>(steps));
        }
      }
    } catch (const gpu::CudaError& error) {
      if (error.code() != cudaErrorCooperativeLaunchTooLarge &&
          error.code() != cudaErrorLaunchOutOfResources) {
        throw;
      }
    }
    return best;
  }

  TileChoice choice_;
  RepeatedGraph graphs_;
};

} // namespace diffbench::kernels
