// SPDX-License-Identifier: Apache-2.0
// The results of duels, one after the other in a file: a line of JSON each.
//
// Several duels may write at once, and each may be killed at any moment: a line is written whole
// under a lock and is on the disk before its result is shown. One that was cut off all the same
// ends where the next begins.
#pragma once

#include "ratio.hpp"
#include "step_work.hpp"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What was compared, and where: runs of the same are one row of a history.
struct HistoryRow {
  std::string a, b, label;           ///< the sides as typed; the parameter
  std::optional<StepWork> work = {}; ///< of a sample; empty: a whole process
  std::string host, cpu;

  [[nodiscard]] auto operator<=>(const HistoryRow& other) const =
      default; // NOLINT(modernize-use-nullptr)
};

struct HistoryEntry {
  HistoryRow row;
  std::vector<std::string> commits = {}; ///< of A and B; empty: they are no revisions
  std::string date;                      ///< RFC 3339; of older ones the offset has no colon
  std::int64_t blocks = 0;
  double a_seconds = 0;
  double b_seconds = 0;
  Ratio ratio; ///< of B over A
  std::string verdict;
  bool disturbed = false;
};

/// Before any work: throws InvalidInput for what is no regular file, Error for what cannot be
/// written.
void check_history(const std::filesystem::path& path);
/// Throws Error when that fails; the file is made where it is not there.
void append_history(const std::filesystem::path& path, std::span<const HistoryEntry> entries);

struct History {
  std::vector<HistoryEntry> entries; ///< in time; without a date after the line before
  std::int64_t cut_off = 0;          ///< lines without an entry
};
/// Throws InvalidInput for what is no regular file, or has no entry, Error where it cannot be read.
[[nodiscard]] History read_history(const std::filesystem::path& path);

} // namespace diffbench::bench
