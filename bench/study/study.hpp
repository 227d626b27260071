// SPDX-License-Identifier: Apache-2.0
// What studies share: points along one axis or several, at each of them rows with times, and what
// is read off them: who is the fastest where, from where on one wins, how much is enough.
#pragma once

#include "conclusion.hpp"
#include "crossover.hpp"
#include "lab_report.hpp"
#include "result.hpp"
#include "result_file.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// A row at a point, whatever it is a row of.
struct StudyRow : TimedRow {
  std::string group = {};   ///< the backend or engine, the same whatever its threads
  int threads = 0;          ///< asked for; 0: none were, as on a GPU
  bool accepted = false;    ///< by its proof; a limit: it has a time
  bool refuted = false;     ///< by its proof
  bool is_limit = false;    ///< what nobody can beat, and no rival of anybody
  bool is_naive = false;    ///< a port that makes round trips
  std::string trouble = {}; ///< why it has no time, for a note; empty: that is known
  SampleSeries series = {}; ///< in the result file
  Value json = {};          ///< in the result file

  [[nodiscard]] bool verified() const { return accepted; }
  [[nodiscard]] bool wrong() const { return refuted; }
  [[nodiscard]] bool ranked() const { return accepted && timed(); }
};

/// What a row of a comparison, or of networks, has of it.
template <typename Row>
[[nodiscard]] StudyRow study_row(const Row& row, SampleSeries series = {}, Value json = {}) {
  StudyRow own;
  static_cast<TimedRow&>(own) = row;
  own.accepted = row.verified() || row.ranked();
  own.refuted = row.wrong();
  own.series = std::move(series);
  own.json = std::move(json);
  return own;
}

struct StudyPoint {
  std::vector<std::string> values = {}; ///< one of each axis
  std::vector<double> sizes = {};       ///< the same as numbers, of axes that have crossings
  std::vector<StudyRow> rows = {};
  std::vector<std::string> facts = {}; ///< for the table
};

struct Study {
  std::vector<std::string> axes = {};
  std::vector<std::string> facts = {}; ///< of each point, as the table calls them
  std::vector<StudyPoint> points = {};
  double least_effect = least_effect_in_run; ///< below which a difference of rows is none
  bool apart = false;                        ///< the samples of rows are no pairs
};

// --- what is shown

/// A line a point, a column each row that has a time somewhere: what `cell` says of those that have
/// one there, else that they are wrong or failed. With the fastest row where `figures` show it.
[[nodiscard]] std::string pivot(const Study& study, Evidence figures,
                                const std::function<std::string(const StudyRow&)>& cell);
/// Of what is of less interest, by the first axis alone. After an empty line.
[[nodiscard]] std::string pivot_of(const std::string& what, const Study& study,
                                   const std::function<std::string(const StudyRow&)>& cell);
[[nodiscard]] std::string step_text(const StudyRow& row);   ///< of one with a time
[[nodiscard]] std::string spread_text(const StudyRow& row); ///< of one with a time

/// Times under `title` with what follows them in the text; `results` as data and lines of --csv,
/// each row's `json`, or where it has none the place, name and time of it; a picture of the times
/// over the first axis; samples, how the rows ended, and notes on those without a time, equal ones
/// as one.
[[nodiscard]] LabReport study_report(const Study& study, const std::string& title,
                                     const std::string& rest = "");

// --- what is read off

/// Of a point's rows the one to look at; nullptr: none.
using Pick = std::function<const StudyRow*(const StudyPoint&)>;
/// The fastest that `admits`, limits left out.
[[nodiscard]] Pick best_of(std::function<bool(const StudyRow&)> admits);
/// "cpu is the fastest at N = 10, 20; scalar at 50; uncertain at 100", by groups: rows of one are
/// no rivals. Of the first axis.
[[nodiscard]] std::string fastest_where(const Study& study);
/// From where on one row wins against another along an axis, all else held fixed.
struct Crossing {
  std::size_t along = 0;
  std::vector<std::string> fixed = {}; ///< values of all axes, the one along it empty
  Crossover crossover;
};
/// From which size on `challenger` wins, at all values of the other axes at which two points have
/// both.
[[nodiscard]] std::vector<Crossing> crossings(const Study& study, std::size_t along,
                                              const Pick& champion, const Pick& challenger);
/// Of two that have times.
[[nodiscard]] Verdict judge(const Study& study, const StudyRow& row, const StudyRow& other);
/// "simd is faster than fused from 612 (540 to 700) cells a side", or "at every grid".
[[nodiscard]] std::string crossing_text(std::string_view who, std::string_view whom,
                                        const Crossover& found, std::string_view size,
                                        std::string_view unit);
/// "grid 128, iters 10": values of axes, empty ones left out.
[[nodiscard]] std::string place_text(const Study& study, const std::vector<std::string>& values);

/// Rows of all points beside each other, by the time of a unit of work.
struct PacedRows {
  double least_effect = least_effect_in_run;
  bool apart = false;              ///< their samples are no pairs
  std::vector<StudyRow> rows = {}; ///< ascending along the axis

  /// One with a time, of so much work a step.
  void add(StudyRow row, double work);
  /// nullptr without any.
  [[nodiscard]] Leader<StudyRow> first() const;
  /// The first that is within 5 % of the best; nullptr where the samples leave that open.
  [[nodiscard]] const StudyRow* enough() const;
};

} // namespace diffbench::bench
