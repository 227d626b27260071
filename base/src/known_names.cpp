// SPDX-License-Identifier: Apache-2.0
#include "diffbench/known_names.hpp"

#include <algorithm>
#include <cstddef>

namespace diffbench {

namespace {

/// As it is compared.
std::string plain(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// The optimal string alignment distance (Damerau 1964; no part is edited twice).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

} // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names) {
  const std::string typed = plain(wrong);
  const std::string *nearest = nullptr, *begun = nullptr;
  std::size_t best = std::max<std::size_t>(1, typed.size() / 3), beginnings = 0;
  for (const std::string& name : names) {
    const std::string known = plain(name);
    const std::size_t edits = distance(typed, known);
    if (edits < known.size() && (nearest == nullptr ? edits <= best : edits < best)) {
      nearest = &name;
      best = edits;
    }
    if (typed.size() >= 3 && known.starts_with(typed)) {
      begun = &name;
      ++beginnings;
    }
  }
  if (beginnings == 1) {
    nearest = begun;
  }
  return nearest == nullptr ? "" : ", did you mean '" + *nearest + "'?";
}

InvalidInput unknown_name(std::string_view kind, std::string_view wrong,
                          const std::vector<std::string>& valid) {
  std::string list;
  for (const std::string& name : valid) {
    list += (list.empty() ? "" : ", ") + name;
  }
  const std::string meant = did_you_mean(wrong, valid);
  return InvalidInput("unknown " + std::string(kind) + " '" + std::string(wrong) + "'" + meant +
                      (meant.empty() ? "; valid: " : " Valid: ") + list);
}

} // namespace diffbench
