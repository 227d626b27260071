// What the Thrust backends on the GPU share: policies on the session's stream, Thrust's errors as
// ours, and the session of the fused step.
#pragma once

#include "device_session.hpp"
#include "thrust_steps.hpp"

#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

namespace diffbench::kernels {

/// Thrust waits for the stream after every call. (Its default policy does so on the default stream,
/// which our copies do not use.)
struct Synchronous {
  [[nodiscard]] static auto on(const gpu::Stream& stream) {
    return thrust::cuda::par.on(stream.get());
  }
};

/// Thrust issues its kernels and goes on, wherever the result does not have to be on the host.
struct Asynchronous {
  [[nodiscard]] static auto on(const gpu::Stream& stream) {
    return thrust::cuda::par_nosync.on(stream.get());
  }
};

/// Runs `work`, which calls Thrust; throws gpu::CudaError when that reports one.
template <typename Work>
void call_thrust(const char* what, Work work) {
  try {
    work();
  } catch (const thrust::system_error& error) {
    gpu::check(static_cast<cudaError_t>(error.code().value()), what);
    throw; // of another kind
  }
}

/// fused_step in turns over the two buffers of a ghosted field.
template <typename T, typename Policy>
class ThrustFusedSession final : public DeviceSession<T> {
 public:
  ThrustFusedSession(const Problem& problem, const SessionOptions& options)
      : DeviceSession<T>(problem, options, ghosted_layout(problem)) {}

 private:
  void enqueue(std::int64_t steps) override {
    const Grid<T> grid = grid_of<T>(this->problem(), this->field().layout().pitch);
    const auto policy = Policy::on(this->stream());
    call_thrust("thrust::for_each and thrust::tabulate", [&] {
      for (std::int64_t i = 0; i < steps; ++i) {
        fused_step(policy, grid, this->field().now(), this->field().next());
        this->field().swap();
      }
    });
  }
};

template <typename T, typename Policy>
std::unique_ptr<Session<T>> make_thrust_fused(const Problem& problem,
                                              const SessionOptions& options) {
  return std::make_unique<ThrustFusedSession<T, Policy>>(problem, options);
}

[[nodiscard]] inline MemoryNeed thrust_fused_memory_need(const Problem& problem,
                                                         const SessionOptions& options) {
  return device_memory_need(problem, options, ghosted_layout(problem));
}

} // namespace diffbench::kernels
