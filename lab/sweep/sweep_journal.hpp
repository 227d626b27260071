// SPDX-License-Identifier: Apache-2.0
// The file in which a sweep keeps what it has measured: lines of JSON, the first one saying what
// the sweep is, each further one a combination. Lines are only ever appended, so an end at any
// moment (Ctrl-C, a kill, a full disk) loses at most the combination that was being measured.
#pragma once

#include "line_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// A combination that was measured.
struct SweepPoint {
  std::vector<std::string> values; ///< one of each axis
  double seconds = 0;              ///< that measuring it took
  nlohmann::ordered_json result;   ///< the `diffbench` part of a result file
};

/// Of the lines after the first. Throws InvalidInput for one that is of no sweep, or is there
/// twice.
[[nodiscard]] std::vector<SweepPoint> sweep_points(const std::filesystem::path& path,
                                                   std::span<const nlohmann::ordered_json> lines);

class SweepJournal {
 public:
  /// Begins the file at `path`, which must not hold anything yet, or goes on with the one there,
  /// which must be of a sweep with the same `header`, an object of objects. Throws InvalidInput for
  /// what is refused, Error where the system fails. No other process can write to it meanwhile.
  SweepJournal(std::filesystem::path path, const nlohmann::ordered_json& header, bool resume);

  /// What earlier runs measured.
  [[nodiscard]] const std::vector<SweepPoint>& points() const { return points_; }
  /// Returns when the line is on the disk. Throws Error.
  void append(const SweepPoint& point);

 private:
  void check_header(const nlohmann::ordered_json& there, const nlohmann::ordered_json& here) const;

  std::filesystem::path path_;
  std::optional<LineFile> file_;
  std::vector<SweepPoint> points_;
};

} // namespace diffbench::bench
