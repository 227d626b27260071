// SPDX-License-Identifier: Apache-2.0
// A device session whose field is laid out for the kernels of this folder, and the backend made of
// such a session.
#pragma once

#include "device_session.hpp"
#include "grid.hpp"

#include <memory>
#include <string_view>

namespace diffbench::kernels {

template <typename T>
class GridSession : public DeviceSession<T> {
 public:
  /// `extra_device` bytes are the derived class's own.
  GridSession(const Problem& problem, const SessionOptions& options, std::int64_t extra_device = 0)
      : DeviceSession<T>(problem, options, aligned_layout(problem), extra_device) {}

 protected:
  [[nodiscard]] Grid<T> grid() const {
    return grid_of<T>(this->problem(), this->field().layout().pitch);
  }
  [[nodiscard]] T* now() const { return this->field().now(); }
  [[nodiscard]] T* next() const { return this->field().next(); }
  void swap_fields() { this->field().swap(); }
};

[[nodiscard]] inline MemoryNeed grid_memory_need(const Problem& problem,
                                                 const SessionOptions& options) {
  return device_memory_need(problem, options, aligned_layout(problem));
}

/// A backend of GridSessions but for what makes them.
[[nodiscard]] inline BackendInfo grid_backend(std::string_view name, std::string_view description,
                                              int ladder) {
  return {.name = name,
          .description = description,
          .device = gpu::emulated ? DeviceKind::emulated : DeviceKind::cuda,
          .ladder = ladder,
          .probe = gpu::probe_device,
          .memory_need = grid_memory_need};
}

/// The backend whose sessions are made from a problem and options. (Types, not their template:
/// RegistryEntry::construct says why.)
template <typename Float32Session, typename Float64Session>
[[nodiscard]] BackendInfo cuda_backend(std::string_view name, std::string_view description,
                                       int ladder) {
  BackendInfo backend = grid_backend(name, description, ladder);
  backend.make_float32 = BackendInfo::construct<Float32Session>;
  backend.make_float64 = BackendInfo::construct<Float64Session>;
  return backend;
}

} // namespace diffbench::kernels
