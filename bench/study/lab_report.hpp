// SPDX-License-Identifier: Apache-2.0
// What every experiment of the lab gives back, and how it is shown and kept.
//
// An experiment is a folder with a function that declares its options and returns what is to be
// done. Its findings are text for people, and JSON for everything else: the result file has them as
// `diffbench.NAME`, beside the samples. What list and doctor say is shown and kept in the same way.
#pragma once

#include "foreign_load.hpp"
#include "outcome.hpp"
#include "picture.hpp"
#include "progress.hpp"
#include "result_file.hpp"
#include "statistics.hpp"
#include "verb.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

// NOLINTNEXTLINE(bugprone-exception-escape): only an assertion in the JSON's move could throw
struct LabReport {
  std::string text;                   ///< the tables
  std::string sentence;               ///< what they show; empty: they speak for themselves
  std::string done = {};              ///< what holds whatever the figures are worth
  Value data;                         ///< the same for programs
  Value columns = {};                 ///< heads_of() those of `data`
  std::vector<Picture> pictures = {}; ///< how the page draws `data`
  Value assumed = {};             ///< of a card that is not here, where `data` has no place for it
  std::optional<Value> rows = {}; ///< the lines of --csv; empty: `results` of data
  std::vector<SampleSeries> series = {}; ///< all samples
  std::vector<std::string> notes = {};   ///< what a reader must know
  std::vector<std::string> written = {}; ///< files that the verb wrote itself,
  std::function<void()> write = {};      ///< or that this writes
  bool interrupted = false;              ///< by Ctrl-C: what was measured until then
  bool disturbed = false;                ///< by other programs; a note says what they had
  std::optional<Width> width = {};       ///< what that makes of its times, where it is known
  bool load_is_judged = false;           ///< its maker has looked for them, `disturbed` is final
  Outcome outcome = {};                  ///< of the comparison behind it

  // What else concludes from figures, and is left out where they are disturbed and of no width.
  std::optional<std::string> figures = {};     ///< `text` without conclusions; empty: it has none
  std::vector<std::string> findings = {};      ///< notes on what figures show
  std::vector<std::string> found_in_data = {}; ///< paths in `data`, "[]." of each of its elements
};

/// Adds a table to a report's text; `figures` is it without conclusions.
void append_table(LabReport& report, const std::string& table, const std::string& figures);
inline void append_table(LabReport& report, const std::string& table) {
  append_table(report, table, table);
}

/// The part `diffbench` of an experiment's result file: `data` is its member `name`; the members of
/// a comparison's are its own (result_lines.hpp).
[[nodiscard]] Value lab_part(const std::string& name, const std::string& command,
                             const LabReport& report);

/// The result file of an experiment that ran here.
[[nodiscard]] Value lab_result(const std::string& name, const std::string& command,
                               const LabReport& report);

/// Marks a report, and notes why, where other programs had CPU time since `load` was made.
void mark_disturbed(LabReport& report, const LoadWatch& load);

/// Leaves of a report that was marked nothing but figures: conclusion.hpp decides.
void keep_conclusions(LabReport& report);

/// The options that all experiments have.
struct LabOutput {
  std::string json, csv, markdown, report;
  bool progress = true;
  std::string expected; ///< what is said before the work, see expect(); empty: it takes a moment

  /// Before the work it will be said that `what` takes about `seconds`, or up to these where a
  /// budget `binds`.
  void expect(double seconds, const std::string& what, bool binds = false);
  void declare(OptionList& options);
  /// Of what takes a moment and has no picture: json, csv and markdown.
  void declare_files(OptionList& options);
};

/// Checks that the result can be written, calls `make`, and shows and writes its report: one output
/// that cannot be written does not keep the others from it. Returns the exit code, and complains on
/// stderr where it is not 0; throws what `make` throws, and Error for the first output that failed.
[[nodiscard]] int show_report(const std::string& name, const LabOutput& output,
                              const Invocation& invocation, const std::function<LabReport()>& make);

/// The same of `measure`, with progress, and Ctrl-C asking for an orderly end. What was timed while
/// other programs had CPU time is marked, and concludes nothing: no verb need see to it.
[[nodiscard]] int run_experiment(const std::string& name, const LabOutput& output,
                                 const Invocation& invocation,
                                 const std::function<LabReport(Progress&)>& measure);

} // namespace diffbench::bench
