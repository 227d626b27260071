// SPDX-License-Identifier: Apache-2.0
// Names that a user chooses from a list, and what is said of one that is not on it.
#pragma once

#include "diffbench/errors.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace diffbench {

/// The names of those of `all` that `chosen` takes.
template <typename Named, typename Chosen>
[[nodiscard]] std::vector<std::string> names_in(const Named& all, Chosen chosen) {
  std::vector<std::string> names;
  for (const auto& one : all) {
    if (chosen(one)) {
      names.emplace_back(one.name);
    }
  }
  return names;
}
template <typename Named>
[[nodiscard]] std::vector<std::string> names_in(const Named& all) {
  return names_in(all, [](const auto& /*one*/) { return true; });
}

/// ", did you mean 'simd'?" for the name nearest to `wrong`, by inserted, deleted, replaced and
/// swapped characters, large letters and underscores counting as small ones and hyphens; empty
/// where none is near enough. A beginning of three characters or more that only one name has is
/// near enough, too.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       const std::vector<std::string>& names);

/// "unknown backend 'smid', did you mean 'simd'? Valid: scalar, ..."
[[nodiscard]] InvalidInput unknown_name(std::string_view kind, std::string_view wrong,
                                        const std::vector<std::string>& valid);

} // namespace diffbench
