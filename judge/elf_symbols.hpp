// SPDX-License-Identifier: Apache-2.0
// The symbols of what a compiler has made, read from the file alone: loading it would run its code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace diffbench::bench {

struct ElfSymbol {
  std::string name; ///< mangled, where the language does that
  bool defined = false;
  bool function = false;
  bool weak = false; ///< another file may define it, too
};

/// Of a shared object those that others see, of an object file all (ELF for 64 bits). Throws
/// InvalidInput for a file that is neither.
[[nodiscard]] std::vector<ElfSymbol> elf_symbols(const std::filesystem::path& file);

/// The names of functions that a shared object offers to others. Throws InvalidInput for a file
/// that is none.
[[nodiscard]] std::vector<std::string> exported_functions(const std::filesystem::path& library);

} // namespace diffbench::bench
