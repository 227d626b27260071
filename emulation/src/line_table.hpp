// SPDX-License-Identifier: Apache-2.0
// Lines of the code at addresses of a shared object, from its own .debug_line section: without
// starting another program, and without writing anything.
//
// Read as DWARF 4 has it (DWARF Debugging Information Format, version 4, section 6.2), which the
// compiler is asked for (-gdwarf-4).
#pragma once

#include "findings.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace diffbench::emulation {

class LineTable {
 public:
  LineTable() = default;
  /// Of the ELF file at `path`. Empty when it has no lines or cannot be read.
  explicit LineTable(const std::string& path);

  /// The line at `address`, which is relative to where the object begins. Where the code there
  /// comes from a file that `of_user` refuses, the line before it of the same function that does
  /// not.
  [[nodiscard]] CodeLine find(std::uint64_t address,
                              const std::function<bool(const std::string&)>& of_user) const;

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t file;
    int line; ///< 0: the end of a sequence
  };
  void read_unit(const std::uint8_t* unit, const std::uint8_t* end);

  std::vector<Row> rows_; ///< by address
  std::vector<std::string> files_;
};

} // namespace diffbench::emulation
