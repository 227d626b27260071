// SPDX-License-Identifier: Apache-2.0
// What a trial says of a submission of a class: facts, which a rubric makes points of.
#pragma once

#include "diffbench/name_table.hpp"
#include "program_trial.hpp"
#include "ratio.hpp"
#include "trial.hpp"
#include "value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Against a row of ours.
struct RowPace {
  std::string row; ///< one of pace_rows()
  Ratio times;     ///< how many times as long that row takes
};
/// Those of a trial, and "best", the fastest of those that are in C++.
[[nodiscard]] std::vector<std::string> pace_rows();

struct Graded {
  enum class Fate {
    tried,
    refused,  ///< it does not compile, has no form that is known, or is several files
    lacking,  ///< this machine lacks what it needs, such as a compiler
    undecided ///< what it runs took too long for this machine
  };
  std::string name; ///< as the folder has it
  Fate fate = Fate::refused;
  std::optional<Language> language;
  std::string form, verdict; ///< empty: not tried
  bool right = false;        ///< of a program, which nobody knows the result of: no fault was found
  std::string mistake;       ///< its id; empty: none, or none that is known
  std::string reason;        ///< why it is not right, in a line
  // Of an emulated device; empty without one, or where it did not come so far.
  std::optional<std::int64_t> faults, races, leaks;
  std::optional<std::int64_t> stopwatch; ///< remarks on a program's clock
  std::optional<double> copies;          ///< a step, between host and device
  std::int64_t launches = 0;
  double kernels_write = 0; ///< DeviceCosts::written, of the dtype that has least
  bool resident = false;    ///< nothing travels in a step
  bool timed = false;       ///< its time was asked for; a wrong one has none all the same
  std::vector<RowPace> paces;
  bool disturbed = false; ///< its times, by other programs
  std::string said;       ///< what `diffbench try` prints of it
};
inline constexpr NameTable<Graded::Fate, 4> fate_names{
    "fate",
    {{{Graded::Fate::tried, "tried"},
      {Graded::Fate::refused, "refused"},
      {Graded::Fate::lacking, "lacking"},
      {Graded::Fate::undecided, "not decided"}}}};
[[nodiscard]] constexpr std::string_view to_string(Graded::Fate fate) {
  return fate_names.name(fate);
}

/// Whether it says something of the submission, whatever the machine: then it has points.
[[nodiscard]] constexpr bool is_final(Graded::Fate fate) {
  return fate == Graded::Fate::tried || fate == Graded::Fate::refused;
}

[[nodiscard]] Graded graded_from(const std::string& name, const Trial& trial, bool disturbed);
[[nodiscard]] Graded graded_from(const std::string& name, const ProgramTrial& trial);
/// Of one that was not tried.
[[nodiscard]] Graded not_tried(const std::string& name, std::optional<Language> language,
                               Graded::Fate fate, const std::string& reason);

/// How many times as long that row takes; empty: not timed beside it.
[[nodiscard]] std::optional<double> times_of(const Graded& graded, std::string_view row);

/// All facts.
[[nodiscard]] Value graded_json(const Graded& graded);

} // namespace diffbench::bench
