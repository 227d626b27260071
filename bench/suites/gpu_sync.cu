// SPDX-License-Identifier: Apache-2.0
// Empty kernels, events, waiting and barriers on a GPU.
#include "diffbench/errors.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/graph.hpp"
#include "diffbench/gpu/launch.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "gpu_operations.hpp"
#include "operation.hpp"

#include <memory>
#include <vector>

#include <cooperative_groups.h>

namespace diffbench::bench {

namespace {

__global__ void nothing() {}

/// `count` barriers across the grid.
__global__ void grid_barriers(long long count) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (long long round = 0; round < count; ++round) {
    grid.sync();
  }
}

/// The same with proof: before each barrier the first thread of a block says how far it is, in one
/// block a little later than in the others; after it, none may find its neighbour behind.
__global__ void checked_barriers(int count, int* reached, int* early) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const bool first = threadIdx.x == 0;
  for (int round = 1; round <= count; ++round) {
    if (first) {
      const bool late = blockIdx.x == static_cast<unsigned>(round) % gridDim.x;
      for (int pause = 0; late && pause < 20; ++pause) {
        __nanosleep(200);
      }
      atomicExch(&reached[blockIdx.x], round);
    }
    grid.sync();
    if (first && atomicAdd(&reached[(blockIdx.x + 1) % gridDim.x], 0) < round) {
      atomicAdd(early, 1);
    }
  }
}

class GridBarrier {
 public:
  GridBarrier() {
    const gpu::Device device = gpu::use_device(0);
    if (!device.cooperative_launch) {
      throw Unavailable("this device has no cooperative launches");
    }
    shape_ = {.grid = dim3(static_cast<unsigned>(device.multiprocessors)),
              .block = dim3(256),
              .cooperative = true};
    prove();
  }

  void run(std::int64_t count) const {
    gpu::launch(stream_, shape_, grid_barriers, static_cast<long long>(count));
    stream_.synchronize();
  }

 private:
  void prove() const {
    constexpr int rounds = 8;
    const std::vector<int> none(shape_.grid.x, 0);
    const gpu::DeviceArray<int> reached(static_cast<std::int64_t>(none.size()));
    const gpu::DeviceArray<int> early(1);
    int counted = -1;
    gpu::copy_to_device(stream_, reached.data(), none.data(), none.size() * sizeof(int));
    gpu::copy_to_device(stream_, early.data(), none.data(), sizeof(int));
    gpu::launch(stream_, shape_, checked_barriers, rounds, reached.data(), early.data());
    gpu::copy_to_host(stream_, &counted, early.data(), sizeof counted);
    stream_.synchronize();
    if (counted != 0) {
      throw WrongResult("a block passed the barrier before all had reached it");
    }
  }

  gpu::LaunchShape shape_;
  gpu::Stream stream_;
};

void launch_nothing(const gpu::Stream& stream) {
  gpu::launch(stream, {.grid = dim3(1), .block = dim3(32)}, nothing);
}

/// An Operation of `each(stream)`, so many times, and a wait for the stream.
template <typename Each>
Operation on_stream(Each each) {
  return [stream = std::make_shared<gpu::Stream>(), each](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      each(*stream);
    }
    stream->synchronize();
  };
}

Operation graph_launch() {
  const auto stream = std::make_shared<gpu::Stream>();
  const auto graph = std::make_shared<gpu::Graph>(gpu::Graph::capture(*stream, [&] {
    for (std::int64_t i = 0; i < kernels_per_graph; ++i) {
      launch_nothing(*stream);
    }
  }));
  return [stream, graph](std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kernels_per_graph) {
      graph->launch(*stream);
    }
    stream->synchronize();
  };
}

} // namespace

Probe probe_gpu() { return gpu::probe_device(0); }

bool gpu_is_emulated() { return gpu::emulated; }

Operation make_gpu_sync(GpuSync what) {
  (void)gpu::use_device(0);
  switch (what) {
    case GpuSync::launch: return on_stream(launch_nothing);
    case GpuSync::launch_and_wait:
      return on_stream([](const gpu::Stream& stream) {
        launch_nothing(stream);
        stream.synchronize();
      });
    case GpuSync::graph_launch: return graph_launch();
    case GpuSync::event_record:
      return on_stream([event = std::make_shared<gpu::Event>()](const gpu::Stream& stream) {
        stream.record(*event);
      });
    case GpuSync::stream_synchronize:
      return on_stream([](const gpu::Stream& stream) { stream.synchronize(); });
    case GpuSync::device_synchronize:
      return on_stream([](const gpu::Stream&) { DIFFBENCH_CUDA_CHECK(cudaDeviceSynchronize()); });
    case GpuSync::grid_barrier:
      return
          [barrier = std::make_shared<GridBarrier>()](std::int64_t count) { barrier->run(count); };
  }
  return {};
}

} // namespace diffbench::bench
