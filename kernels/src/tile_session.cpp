#include "tile_session.hpp"

#include "diffbench/gpu/launch.hpp"
#include "kernels.hpp"
#include "repeated_graph.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace diffbench::kernels {

namespace {

template <typename T>
class TileSession final : public GridSession<T> {
 public:
  TileSession(const Problem& problem, const SessionOptions& options,
              std::span<const TileKernel> kernels)
      : GridSession<T>(problem, options),
        choice_(this->allocating([&] { return choose(kernels); })) {}

 private:
  static constexpr Dtype dtype = dtype_of<T>;

  static auto blocked_kernel(Patch patch) {
    const StepKernels<T> all = step_kernels<T>();
    return patch == Patch::small ? all.blocked_small : all.blocked_large;
  }
  static auto persistent_kernel() { return step_kernels<T>().persistent_small; }

  void enqueue(std::int64_t steps) override { run(choice_.plan, graphs_, steps); }

  [[nodiscard]] typename GridSession<T>::Details details() const override {
    return {{"tile", choice_.plan.describe(dtype)}, {"tile_from", choice_.source}};
  }

  TileChoice choose(std::span<const TileKernel> kernels) {
    gpu::allow_shared_memory(blocked_kernel(Patch::small), this->device());
    gpu::allow_shared_memory(blocked_kernel(Patch::large), this->device());
    gpu::allow_shared_memory(persistent_kernel(), this->device());

    // Threads and shared memory, which goes by them, are all that matters: few calls for many
    // plans.
    std::map<std::tuple<TileKernel, Patch, int>, int> resident;
    TileDevice device{.properties = this->device(),
                      .resident_blocks =
                          [&](const TilePlan& plan) {
                            const auto [entry, is_new] =
                                resident.try_emplace({plan.kernel, plan.patch, plan.threads()});
                            if (is_new) {
                              entry->second = resident_blocks(plan);
                            }
                            return entry->second;
                          },
                      .seconds = {}};
    // Of whatever lies in the buffers: no operation takes longer for a NaN.
    std::map<TilePlan, RepeatedGraph<T>> graphs;
    const gpu::Event begin;
    const gpu::Event end;
    if constexpr (!gpu::emulated) {
      device.seconds = [&](const TilePlan& plan, std::int64_t steps) {
        this->stream().record(begin);
        run(plan, graphs[plan], steps);
        this->stream().record(end);
        end.wait();
        return end.seconds_since(begin);
      };
    }
    return choose_tile(kernels, this->problem(), device, LineCache::standard("tiles"),
                       this->options().retune);
  }

  [[nodiscard]] static gpu::LaunchShape shape_of(const TilePlan& plan, std::int64_t tiles) {
    return {.grid = dim3(static_cast<unsigned>(tiles)),
            .block = dim3(static_cast<unsigned>(plan.block_x), static_cast<unsigned>(plan.block_y)),
            .shared_bytes = static_cast<std::size_t>(plan.shared_bytes(dtype)),
            .cooperative = plan.kernel == TileKernel::persistent};
  }

  [[nodiscard]] static int resident_blocks(const TilePlan& plan) {
    return plan.kernel == TileKernel::blocked
               ? gpu::resident_blocks(blocked_kernel(plan.patch), shape_of(plan, 1))
               : gpu::resident_blocks(persistent_kernel(), shape_of(plan, 1));
  }

  // A graph for each series of launches; a single launch as it is.
  void run(const TilePlan& plan, RepeatedGraph<T>& graphs, std::int64_t steps) {
    constexpr std::int64_t launches_per_graph = 128;
    while (steps > 0) {
      const bool several = plan.kernel == TileKernel::blocked && steps > plan.depth;
      const std::int64_t part = several ? std::min(steps, launches_per_graph * plan.depth) : steps;
      if (several) {
        graphs.launch(this->stream(), this->field(), part,
                      [&](std::int64_t count) { issue(plan, count); });
      } else {
        issue(plan, part);
      }
      steps -= part;
    }
  }

  void issue(const TilePlan& plan, std::int64_t steps) {
    const std::int64_t across = plan.tiles_x(this->problem());
    const TileShape tile{plan.depth, plan.tile_width(dtype), plan.tile_height(dtype),
                         static_cast<int>(across)};
    const gpu::LaunchShape shape = shape_of(plan, across * plan.tiles_y(this->problem()));
    if (plan.kernel == TileKernel::persistent) {
      gpu::launch(this->stream(), shape, persistent_kernel(), this->grid(), tile, steps,
                  this->now(), this->next());
      const std::int64_t exchanges = (steps + plan.depth - 1) / plan.depth - 1;
      if (exchanges % 2 == 0) {
        this->swap_fields();
      }
      return;
    }
    for (; steps > 0; steps -= plan.depth) {
      const int depth = static_cast<int>(std::min<std::int64_t>(steps, plan.depth));
      gpu::launch(this->stream(), shape, blocked_kernel(plan.patch), this->grid(), tile, depth,
                  this->now(), this->next());
      this->swap_fields();
    }
  }

  TileChoice choice_;
  RepeatedGraph<T> graphs_;
};

} // namespace

template <typename T>
std::unique_ptr<Session<T>> make_tile_session(const Problem& problem, const SessionOptions& options,
                                              std::span<const TileKernel> kernels) {
  return std::make_unique<TileSession<T>>(problem, options, kernels);
}

template std::unique_ptr<Session<float>> make_tile_session(const Problem&, const SessionOptions&,
                                                           std::span<const TileKernel>);
template std::unique_ptr<Session<double>> make_tile_session(const Problem&, const SessionOptions&,
                                                            std::span<const TileKernel>);

} // namespace diffbench::kernels
