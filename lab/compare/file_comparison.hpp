// SPDX-License-Identifier: Apache-2.0
// What `compare` says of two runs: which rows can be compared, the ratio and the verdict of each,
// and what else differs between the runs. The verb and the report page show the same.
#pragma once

#include "lab_report.hpp"
#include "recorded_run.hpp"
#include "run_ratio.hpp"
#include "standing.hpp"

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct Difference {
  std::string what, old_value, new_value;
};

/// A row that is in both runs, or a reason why it is not compared.
struct ComparedRow {
  std::string name;
  std::string reason = {};
  const RecordedRow* old_row = nullptr;
  const RecordedRow* new_row = nullptr;
  std::optional<Standing> result = {};
  double visible = 0; ///< the least slowdown that would have got a verdict
};

class FileComparison {
 public:
  /// The runs must outlive it.
  FileComparison(const RecordedRun& old_run, const RecordedRun& new_run,
                 double run_spread = default_run_spread, double least_effect = least_effect_in_run);

  [[nodiscard]] bool any_compared() const;
  /// What shows that the runs are of two machines, "num_cpus 4 and 2"; empty where nothing does.
  [[nodiscard]] const std::string& other_machine() const { return other_machine_; }
  /// Rows with the verdict SLOWER that take longer by more than that, 0.05 being 5 %.
  [[nodiscard]] std::vector<std::string> slower_by(double limit) const;
  /// Rows that could not have shown a slowdown of `limit`, each with what it could: "fused (12 %)".
  [[nodiscard]] std::vector<std::string> unable_to_see(double limit) const;
  /// Its outcome is that of files that can be compared.
  [[nodiscard]] LabReport report(const std::string& old_name, const std::string& new_name) const;

 private:
  void add(const RecordedRow& old_row, const RecordedRow* new_row);
  void judge_rows(double run_spread);
  [[nodiscard]] std::string visible_note() const;
  [[nodiscard]] std::vector<std::string> names_of(Verdict verdict) const;
  [[nodiscard]] std::string sentence() const;
  [[nodiscard]] std::vector<std::string> notes() const;

  double least_effect_;
  std::string other_machine_;
  bool disturbed_ = false;          ///< while one of them was measured
  std::vector<Difference> machine_; ///< of machine, build, settings and rows
  std::vector<Difference> problem_; ///< with any of them, no row is compared
  std::vector<ComparedRow> rows_;
};

} // namespace diffbench::bench
