// SPDX-License-Identifier: Apache-2.0
// A rubric: what of a submission earns how many points. rubric.schema.json describes its file.
#pragma once

#include "diffbench/name_table.hpp"
#include "graded.hpp"
#include "value.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct Criterion {
  enum class Kind { right, no_faults, no_races, no_leaks, stopwatch, resident, faster_than };
  Kind kind = Kind::right;
  double points = 0;
  std::string row = {}; ///< of faster_than: whose time must be more than `factor` times as long
  double factor = 1;
};
inline constexpr NameTable<Criterion::Kind, 7> criterion_names{
    "criterion",
    {{{Criterion::Kind::right, "right"},
      {Criterion::Kind::no_faults, "no_faults"},
      {Criterion::Kind::no_races, "no_races"},
      {Criterion::Kind::no_leaks, "no_leaks"},
      {Criterion::Kind::stopwatch, "stopwatch"},
      {Criterion::Kind::resident, "resident"},
      {Criterion::Kind::faster_than, "faster_than"}}}};
[[nodiscard]] constexpr std::string_view to_string(Criterion::Kind kind) {
  return criterion_names.name(kind);
}

/// What a criterion gives whose interval holds its factor.
enum class NotDecided { all, half, none };
inline constexpr NameTable<NotDecided, 3> not_decided_names{
    "rule", {{{NotDecided::all, "all"}, {NotDecided::half, "half"}, {NotDecided::none, "none"}}}};
[[nodiscard]] constexpr std::string_view to_string(NotDecided rule) {
  return not_decided_names.name(rule);
}

struct Rubric {
  NotDecided not_decided = NotDecided::half;
  std::vector<Criterion> criteria;
};

[[nodiscard]] Rubric default_rubric();
/// Throws InvalidInput with the file, the key, and for an unknown name the nearest one.
[[nodiscard]] Rubric read_rubric(const std::filesystem::path& path);
/// As its file has it.
[[nodiscard]] Value rubric_json(const Rubric& rubric);
/// "right", "faster than 2 x numpy"
[[nodiscard]] std::string title_of(const Criterion& criterion);

enum class Mark { met, missed, undecided, not_judged };
inline constexpr NameTable<Mark, 4> mark_names{"mark",
                                               {{{Mark::met, "met"},
                                                 {Mark::missed, "not met"},
                                                 {Mark::undecided, "not decided"},
                                                 {Mark::not_judged, "not judged"}}}};
[[nodiscard]] constexpr std::string_view to_string(Mark mark) { return mark_names.name(mark); }

struct MarkedCriterion {
  Criterion criterion;
  Mark mark = Mark::missed;
  double points = 0;
};

/// In the order of the rubric; nothing of a file that this machine cannot try.
struct Grade {
  std::vector<MarkedCriterion> criteria;
  double points = 0;
  double of = 0; ///< of the criteria that could be judged
};
[[nodiscard]] Grade grade_by(const Rubric& rubric, const Graded& graded);

} // namespace diffbench::bench
