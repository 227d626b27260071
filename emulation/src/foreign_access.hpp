// SPDX-License-Identifier: Apache-2.0
// Accesses of a user's kernel to memory that is neither the device's nor the block's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace diffbench::emulation {

/// By the thread that runs, of memory that has no shadow, or leaves one that has. Returns where a
/// kernel may do so (its stack, constants of the program); else gives the kernel up.
void check_foreign_access(const void* address, std::size_t bytes, bool writes, std::uint64_t site);

} // namespace diffbench::emulation
