// SPDX-License-Identifier: Apache-2.0
// The name of a kernel from its address, for reports.
#pragma once

#include <string>

namespace diffbench::emulation {

/// As the source has it, template arguments included. Reads the symbol table of the program's file,
/// because kernels are mostly local to their file and dladdr() knows exported symbols only.
[[nodiscard]] std::string kernel_name(const void* function);
/// One that has no symbol by which it is known.
void name_kernel(const void* function, const std::string& name);

} // namespace diffbench::emulation
