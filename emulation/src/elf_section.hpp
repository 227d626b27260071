// SPDX-License-Identifier: Apache-2.0
// Sections of an ELF file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace diffbench::emulation {

/// What it holds; empty where there is none, or the file cannot be read.
[[nodiscard]] std::vector<std::uint8_t> section_named(const std::string& path,
                                                      const std::string& name);

} // namespace diffbench::emulation
