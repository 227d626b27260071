// SPDX-License-Identifier: Apache-2.0
// A user's own code: a shared object that was compiled from a translated .cu file
// (emulation/user_code.h). What the emulation says of it has the lines of that file.
#pragma once

#include "findings.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diffbench::emulation {

/// Has such an object been loaded?
[[nodiscard]] bool has_user_code();

/// The line of an instruction of the user's code, or nothing (line 0).
[[nodiscard]] CodeLine user_line(std::uint64_t address);

/// The place in the user's code from which the runtime is being called, as a site; 0: none.
/// `callers`: where the function there was called, and so on.
[[nodiscard]] std::uint64_t call_site(std::size_t callers = 0);

/// Is it a variable of the user's that is neither constant nor one of device_variables()?
[[nodiscard]] bool is_host_variable(const void* address);
/// The variables of the emulation itself: threadIdx and the like.
struct EmulationImage {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  [[nodiscard]] bool holds(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin < bytes;
  }
};
inline constinit EmulationImage emulation_image;
/// Any part of the object.
[[nodiscard]] bool in_user_image(const void* address);

/// Variables marked __device__, __constant__ or __managed__.
struct DeviceVariables {
  std::span<std::byte> bytes;
  MemoryKind kind; ///< variables, constants or managed_variables
};
[[nodiscard]] const std::vector<DeviceVariables>& device_variables();
/// One of these, and of those that the host may not touch.
[[nodiscard]] bool is_device_variable(const void* address);
[[nodiscard]] bool is_variable_of_device_alone(const void* address);

} // namespace diffbench::emulation
