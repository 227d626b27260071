// SPDX-License-Identifier: Apache-2.0
// The session of thrust_fused and thrust_nosync: the fused step in turns over the two buffers of a
// ghosted field.
#pragma once

#include "device_session.hpp"
#include "thrust_cuda.hpp"

#include <memory>
#include <string_view>

namespace diffbench::kernels {

template <typename T, ThrustPolicy Policy>
class ThrustFusedSession final : public DeviceSession<T> {
 public:
  ThrustFusedSession(const Problem& problem, const SessionOptions& options)
      : DeviceSession<T>(problem, options, ghosted_layout(problem)) {}

 private:
  void enqueue(std::int64_t steps) override {
    const Grid<T> grid = grid_of<T>(this->problem(), this->field().layout().pitch);
    for (std::int64_t i = 0; i < steps; ++i) {
      thrust_fused_step(this->stream(), Policy, grid, this->field().now(), this->field().next());
      this->field().swap();
    }
  }
};

template <typename T, ThrustPolicy Policy>
std::unique_ptr<Session<T>> make_thrust_fused(const Problem& problem,
                                              const SessionOptions& options) {
  return std::make_unique<ThrustFusedSession<T, Policy>>(problem, options);
}

template <ThrustPolicy Policy>
[[nodiscard]] BackendInfo thrust_fused_backend(std::string_view name, std::string_view description,
                                               int ladder) {
  return {.name = name,
          .description = description,
          .device = DeviceKind::cuda,
          .ladder = ladder,
          .probe = gpu::probe_device,
          .memory_need =
              [](const Problem& problem, const SessionOptions& options) {
                return device_memory_need(problem, options, ghosted_layout(problem));
              },
          .make_float32 = make_thrust_fused<float, Policy>,
          .make_float64 = make_thrust_fused<double, Policy>};
}

} // namespace diffbench::kernels
