// A device session whose field is laid out for the kernels of this folder, and the backend made of
// such a session.
#pragma once

#include "device_session.hpp"
#include "step.cuh"

#include <memory>
#include <string_view>

namespace diffbench::kernels {

template <typename T>
class GridSession : public DeviceSession<T> {
 public:
  GridSession(const Problem& problem, const SessionOptions& options)
      : DeviceSession<T>(problem, options, aligned_layout(problem)) {}

 protected:
  [[nodiscard]] Grid<T> grid() const {
    const Problem& problem = this->problem();
    return {.nx = static_cast<int>(problem.nx),
            .ny = static_cast<int>(problem.ny),
            .pitch = this->field().layout().pitch,
            .boundary = problem.boundary,
            .constant = static_cast<T>(problem.boundary_value),
            .factor = problem.update_factor<T>()};
  }
  [[nodiscard]] T* now() const { return this->field().now(); }
  [[nodiscard]] T* next() const { return this->field().next(); }
  void swap_fields() { this->field().swap(); }
};

[[nodiscard]] inline MemoryNeed grid_memory_need(const Problem& problem,
                                                 const SessionOptions& options) {
  return device_memory_need(problem, options, aligned_layout(problem));
}

#if defined(DIFFBENCH_EMULATED_CUDA) // by the runtime header of tests/emulation
inline constexpr DeviceKind device_kind = DeviceKind::emulated;
#else
inline constexpr DeviceKind device_kind = DeviceKind::cuda;
#endif

/// The backend whose sessions are Implementation<float> and Implementation<double>, made from a
/// problem and options.
template <template <typename> class Implementation>
[[nodiscard]] BackendInfo cuda_backend(std::string_view name, std::string_view description,
                                       int ladder) {
  return {.name = name,
          .description = description,
          .device = device_kind,
          .ladder = ladder,
          .probe = gpu::probe_device,
          .memory_need = grid_memory_need,
          .make_float32 = [](const Problem& problem,
                             const SessionOptions& options) -> std::unique_ptr<Session<float>> {
            return std::make_unique<Implementation<float>>(problem, options);
          },
          .make_float64 = [](const Problem& problem,
                             const SessionOptions& options) -> std::unique_ptr<Session<double>> {
            return std::make_unique<Implementation<double>>(problem, options);
          }};
}

} // namespace diffbench::kernels
