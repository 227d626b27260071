// SPDX-License-Identifier: Apache-2.0
#include "tile_session.hpp"

#include "diffbench/gpu/launch.hpp"
#include "kernels.hpp"
#include "repeated_graph.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

namespace diffbench::kernels {

namespace {

template <typename T>
class TileSession final : public GridSession<T> {
 public:
  TileSession(const Problem& problem, const SessionOptions& options,
              std::span<const TileKernel> kernels)
      : GridSession<T>(problem, options, packet_bytes(kernels, problem)),
        choice_(this->allocating([&] {
          prepare();
          const TileChoice choice = choose(kernels);
          prepare_packets(choice.plan);
          return choice;
        })) {}
  TileSession(const Problem& problem, const TileChoice& choice)
      : GridSession<T>(problem, {}, packet_bytes({&choice.plan.kernel, 1}, problem)),
        choice_(choice) {
    prepare();
    prepare_packets(choice.plan);
  }
  ~TileSession() override { this->finish(); }
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = GridSession<T>::provenance();
    provenance.sweep_depth = choice_.plan.depth;
    return provenance;
  }

 private:
  static constexpr Dtype dtype = dtype_of<T>;

  void enqueue(std::int64_t steps) override {
    run(choice_.plan, graphs_, steps, launch_steps(choice_));
  }

  [[nodiscard]] typename GridSession<T>::Details details() const override {
    return {{"tile", choice_.plan.describe(dtype)}, {"tile_from", choice_.source}};
  }

  void prepare() {
    constexpr std::int64_t most_blocks = 32; // of a multiprocessor
    flags_ = gpu::DeviceArray<unsigned>(most_blocks * this->device().multiprocessors);
  }

  // Of the first plan that needs them. Exchanges are numbered from 1 on.
  void prepare_packets(const TilePlan& plan) {
    if (plan.kernel == TileKernel::numbered && packets_.size() == 0) {
      packet_buffers_ = packet_buffers(this->problem());
      packets_ = gpu::DeviceArray<Packet>(packet_bytes({&plan.kernel, 1}, this->problem()) /
                                          static_cast<std::int64_t>(sizeof(Packet)));
      packet_buffers_.packets = packets_.data();
      gpu::fill_bytes(this->stream(), packets_.data(), 0,
                      static_cast<std::size_t>(packets_.size()) * sizeof(Packet));
    }
  }

  TileChoice choose(std::span<const TileKernel> kernels) {
    // Threads are all that matters: few calls for many plans.
    std::map<std::pair<TileKernel, int>, int> resident;
    TileDevice device{
        .properties = this->device(),
        .transfer = this->options().transfer,
        .resident_blocks =
            [&](const TilePlan& plan) {
              const auto [entry, is_new] = resident.try_emplace({plan.kernel, plan.threads()});
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
    // An emulated device's times mean nothing. It measures when asked to, and forgets.
    if (!gpu::emulated || this->options().retune) {
      device.seconds = [&](const TilePlan& plan, std::int64_t steps) {
        prepare_packets(plan);
        this->stream().record(begin);
        run(plan, graphs[plan], steps, steps);
        this->stream().record(end);
        end.wait();
        return end.seconds_since(begin);
      };
    }
    // Once a process: tests and proofs choose a thousand plans.
    static std::atomic<bool> warm = gpu::emulated;
    device.warm_seconds = warm ? 0 : device.warm_seconds;
    TileChoice choice = choose_tile(kernels, this->problem(), device,
                                    gpu::emulated ? LineCache({}) : LineCache::standard("tiles"),
                                    this->options().retune);
    warm = true;
    return choice;
  }

  [[nodiscard]] static gpu::LaunchShape tile_shape(const TilePlan& plan, std::int64_t tiles) {
    return {.grid = dim3(static_cast<unsigned>(tiles)),
            .block = dim3(static_cast<unsigned>(plan.block_x), static_cast<unsigned>(plan.block_y)),
            .shared_bytes = static_cast<std::size_t>(TilePlan::shared_bytes()),
            .cooperative = is_persistent(plan.kernel)};
  }

  [[nodiscard]] int resident_blocks(const TilePlan& plan) const {
    switch (plan.kernel) {
      case TileKernel::blocked: return gpu::resident_blocks(kernels_.blocked, tile_shape(plan, 1));
      case TileKernel::persistent:
        return gpu::resident_blocks(kernels_.persistent, tile_shape(plan, 1));
      case TileKernel::numbered:
        return gpu::resident_blocks(kernels_.numbered, tile_shape(plan, 1));
      case TileKernel::streamed:
      case TileKernel::swapped: break;
    }
    return gpu::resident_blocks(strips_kernel(plan), {.grid = dim3(1), .block = dim3(warp_lanes)});
  }

  // A graph for each series of launches; a single launch as it is, if persistent one of at most
  // `most_steps`.
  void run(const TilePlan& plan, RepeatedGraph<T>& graphs, std::int64_t steps,
           std::int64_t most_steps) {
    constexpr std::int64_t launches_per_graph = 128;
    const bool persistent = is_persistent(plan.kernel);
    while (steps > 0) {
      const bool several = !persistent && steps > plan.depth;
      const std::int64_t part =
          std::min(steps, persistent ? most_steps : launches_per_graph * plan.depth);
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
    const Area whole = whole_of(this->problem());
    const std::int64_t exchanges =
        (steps + plan.depth - 1) / plan.depth - 1; // of a persistent plan
    if (plan.kernel == TileKernel::numbered) {
      const TileGrid tiles(plan, whole);
      gpu::launch(this->stream(), tiles.launch, kernels_.numbered, this->grid(), tiles.shape, steps,
                  this->now(), this->next(), packet_buffers_, exchanges_ + 1);
      exchanges_ += static_cast<unsigned>(exchanges);
      this->swap_fields();
      return;
    }
    if (plan.kernel == TileKernel::persistent) {
      const TileGrid tiles(plan, whole);
      gpu::fill_bytes(this->stream(), flags_.data(), 0, tiles.launch.grid.x * sizeof(unsigned));
      gpu::launch(this->stream(), tiles.launch, kernels_.persistent, this->grid(), tiles.shape,
                  steps, this->now(), this->next(), flags_.data());
      if (exchanges % 2 == 0) {
        this->swap_fields();
      }
      return;
    }
    for (; steps > 0; steps -= plan.depth) {
      if (is_streamed(plan.kernel) && steps >= streamed_depth) {
        issue_strips(plan);
      } else {
        issue_tiles(plan, whole, static_cast<int>(std::min<std::int64_t>(steps, plan.depth)));
      }
      this->swap_fields();
    }
  }

  [[nodiscard]] auto strips_kernel(const TilePlan& plan) const {
    return plan.kernel == TileKernel::swapped ? kernels_.swapped : kernels_.streamed;
  }

  // How a launch covers an area with tiles.
  struct TileGrid {
    TileGrid(const TilePlan& plan, const Area& area)
        : shape{plan.depth, plan.tile_width(dtype), plan.tile_height(dtype),
                static_cast<int>(plan.tiles_x(area, dtype))},
          launch(tile_shape(plan, shape.tiles_x * plan.tiles_y(area, dtype))) {}
    TileShape shape;
    gpu::LaunchShape launch;
  };

  void issue_tiles(const TilePlan& plan, const Area& area, int steps) {
    const TileGrid tiles(plan, area);
    gpu::launch(this->stream(), tiles.launch, kernels_.blocked, this->grid(), area, tiles.shape,
                steps, this->now(), this->next());
  }

  void issue_strips(const TilePlan& plan) {
    const StreamedAreas areas = streamed_areas(this->problem());
    const Area& strips = areas.strips;
    if (strips.right > strips.left) {
      const StripShape shape{static_cast<int>(blocks(strips.right - strips.left, strip_width<T>)),
                             plan.rows, areas.wraps_columns};
      gpu::launch(this->stream(),
                  {.grid = dim3(static_cast<unsigned>(shape.strips_x) *
                                blocks(strips.bottom - strips.top, plan.rows)),
                   .block = dim3(warp_lanes)},
                  strips_kernel(plan), this->grid(), strips, shape, this->now(), this->next());
    }
    for (const Area& area : areas.tiles) {
      issue_tiles(plan, area, streamed_depth);
    }
  }

  const StepKernels<T> kernels_ = step_kernels<T>();
  gpu::DeviceArray<unsigned> flags_; // of cuda_persistent's tiles
  gpu::DeviceArray<Packet> packets_;
  PacketBuffers packet_buffers_{};
  unsigned exchanges_ = 0; // numbered ones, of all launches; may overflow
  TileChoice choice_;
  RepeatedGraph<T> graphs_;
};

} // namespace

template <typename T>
std::unique_ptr<Session<T>> make_tile_session(const Problem& problem, const SessionOptions& options,
                                              std::span<const TileKernel> kernels) {
  return std::make_unique<TileSession<T>>(problem, options, kernels);
}

template <typename T>
std::unique_ptr<Session<T>> make_tile_session(const Problem& problem, const TileChoice& choice) {
  return std::make_unique<TileSession<T>>(problem, choice);
}

template std::unique_ptr<Session<float>> make_tile_session(const Problem&, const SessionOptions&,
                                                           std::span<const TileKernel>);
template std::unique_ptr<Session<double>> make_tile_session(const Problem&, const SessionOptions&,
                                                            std::span<const TileKernel>);
template std::unique_ptr<Session<float>> make_tile_session(const Problem&, const TileChoice&);
template std::unique_ptr<Session<double>> make_tile_session(const Problem&, const TileChoice&);

} // namespace diffbench::kernels
