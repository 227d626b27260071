// SPDX-License-Identifier: Apache-2.0
// The names of an enumeration's values in one table, from which to_string, parsing, the choices of
// an option and its help follow.
#pragma once

#include "diffbench/known_names.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench {

template <typename Enum, std::size_t count>
struct NameTable {
  std::string_view kind; ///< of what: "dtype"
  std::array<std::pair<Enum, std::string_view>, count> entries;

  [[nodiscard]] constexpr std::string_view name(Enum value) const {
    for (const auto& [known, text] : entries) {
      if (known == value) {
        return text;
      }
    }
    return "?";
  }
  /// Throws InvalidInput, listing the valid names, for an unknown one.
  [[nodiscard]] Enum parse(std::string_view text) const {
    for (const auto& [value, known] : entries) {
      if (known == text) {
        return value;
      }
    }
    throw unknown_name(kind, text, names());
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : entries) {
      all.emplace_back(entry.second);
    }
    return all;
  }
};

} // namespace diffbench
