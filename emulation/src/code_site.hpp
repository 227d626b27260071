// SPDX-License-Identifier: Apache-2.0
// Places in the code as numbers of 48 bits, and back.
#pragma once

#include "findings.hpp"

#include <cstdint>
#include <string>

#include <cuda_runtime.h>

namespace diffbench::emulation {

/// Of the instruction before a return address.
inline std::uint64_t site_before(const void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address) - 1;
}
/// Of a line that the code names itself.
[[nodiscard]] std::uint64_t site_at(detail::Site line);

/// The line, where the site is of a line or of a user's code; nothing (line 0) else.
[[nodiscard]] CodeLine code_line_of(std::uint64_t site);
/// "quads.cuh:30 of register_tile.cuh:73": the line, and those that it is inlined into.
[[nodiscard]] std::string line_of(std::uint64_t site);

} // namespace diffbench::emulation
