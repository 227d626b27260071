// SPDX-License-Identifier: Apache-2.0
#include "grade.hpp"

#include "class_folder.hpp"
#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "result_file.hpp"
#include "temporary_directory.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

Graded try_submitted(const Submitted& submitted, const TrialPlan& plan, Progress& progress) {
  const bool is_program = !submitted.program.empty() && !plan.form;
  const auto refused = [&](const std::string& why) {
    Graded graded = not_tried(submitted.name, submitted.language, Graded::Fate::refused, why);
    graded.form = is_program ? program_form : "";
    return graded;
  };
  if (!submitted.problem.empty()) {
    return refused(submitted.problem);
  }
  try {
    const TemporaryDirectory work_dir;
    LoadWatch load;
    TrialPlan own = plan;
    own.compiler.own_files = submitted.parts;
    if (is_program) {
      TriedProgram program{.files = submitted.program, .input = "/dev/null"};
      program.seconds = plan.run.budget_binds ? plan.run.budget_seconds : program.seconds;
      return graded_from(submitted.name, try_program(program, own, work_dir.path(), progress));
    }
    const Trial trial = try_file(submitted.file, own, work_dir.path(), progress);
    if (trial.timing) {
      if (trial.timing->interrupted) { // its times are of fewer rounds, or there are none
        throw Interrupted();
      }
      load.add_work(*trial.timing);
    }
    return graded_from(submitted.name, trial, trial.timing && load.disturbance());
  } catch (const InvalidInput& error) {
    return refused(error.what());
  } catch (const Interrupted&) {
    throw;
  } catch (const std::length_error&) { // of a library that says that it has so many names
    return refused("this is more than memory holds");
  } catch (const std::exception& error) { // the machine's
    return not_tried(submitted.name, submitted.language, Graded::Fate::lacking, error.what());
  }
}

/// A submission and its points.
struct GradedRow {
  Graded graded;
  Grade grade;
};

/// "7.5 of 10"; empty of one that has no points.
std::string points_text(const Grade& grade) {
  return grade.criteria.empty() ? "" : fmt::format("{:g} of {:g}", grade.points, grade.of);
}

struct ClassResult {
  std::vector<GradedRow> rows;
  std::vector<std::string> left_out;
  std::map<Language, std::string> why_not; ///< no file can be tried; empty: those can
  bool interrupted = false;
};

Graded graded_submitted(const Submitted& submitted, const TrialPlan& trial, ClassResult& result,
                        Progress& progress) {
  if (submitted.language && submitted.problem.empty()) {
    const auto [why_not, is_new] = result.why_not.try_emplace(*submitted.language);
    try {
      if (is_new) {
        try_right_file(*submitted.language, trial);
      }
    } catch (const Unavailable& error) {
      why_not->second = error.what();
    }
    if (!why_not->second.empty()) {
      return not_tried(submitted.name, submitted.language, Graded::Fate::lacking, why_not->second);
    }
  }
  Graded graded = try_submitted(submitted, trial, progress);
  graded.timed = trial.timing && submitted.language && submitted.language != Language::cuda;
  return graded;
}

ClassResult grade_class(const std::string& place, const ClassPlan& plan, const TrialPlan& asked,
                        Progress& progress) {
  ClassFolder folder = class_folder(place);
  ClassResult result;
  result.left_out = std::move(folder.left_out);
  TrialPlan trial = asked;
  if (trial.run.budget_binds && !folder.submitted.empty()) {
    trial.run.budget_seconds /= static_cast<double>(folder.submitted.size());
  }
  for (const Submitted& submitted : folder.submitted) {
    progress.within(fmt::format("{} of {}: ", result.rows.size() + 1, folder.submitted.size()));
    try {
      check_interrupt();
      Graded graded = graded_submitted(submitted, trial, result, progress);
      Grade grade = grade_by(plan.rubric, graded);
      result.rows.push_back({std::move(graded), std::move(grade)});
    } catch (const Interrupted&) {
      result.interrupted = true;
      break;
    }
  }
  return result;
}

/// Why, in a cell of a table.
Value short_reason(const GradedRow& row) {
  constexpr std::size_t widest = 44;
  const std::string& why = row.graded.mistake.empty() ? row.graded.reason : row.graded.mistake;
  return why.size() <= widest ? or_null(why) : Value(why.substr(0, widest - 3) + "...");
}

Value marks_text(const GradedRow& row) {
  std::vector<std::string> marks;
  for (const MarkedCriterion& each : row.grade.criteria) {
    marks.push_back(fmt::format("{}: {} {:g}/{:g}", title_of(each.criterion), to_string(each.mark),
                                each.points, each.criterion.points));
  }
  return or_null(fmt::format("{}", fmt::join(marks, "; ")));
}

Value marks_json(const GradedRow& row) {
  return Value::each(row.grade.criteria, [](const MarkedCriterion& each) -> Value {
    const bool of_time = each.criterion.kind == Criterion::Kind::faster_than;
    return {{"criterion", to_string(each.criterion.kind)},
            {"row", or_null(each.criterion.row)},
            {"factor", of_time ? Value(each.criterion.factor) : Value()},
            {"mark", to_string(each.mark)},
            {"points", each.points},
            {"of", each.criterion.points}};
  });
}

Value points_of(const GradedRow& row) {
  return row.grade.criteria.empty() ? Value() : Value(row.grade.points);
}
Value most_points_of(const GradedRow& row) {
  return row.grade.criteria.empty() ? Value() : Value(row.grade.of);
}

/// The table, and with the keys the lines of --csv, whose columns are the same for all rubrics.
constexpr Column<GradedRow> grade_columns[] = {
    {"name", "submission", as_text, field<&GradedRow::graded, &Graded::name>},
    {"language", nullptr, as_text,
     [](const GradedRow& row) -> Value {
       return row.graded.language ? Value(to_string(*row.graded.language)) : Value();
     }},
    {"form", nullptr, as_text, field<&GradedRow::graded, &Graded::form>},
    {"fate", nullptr, as_text, field<&GradedRow::graded, &Graded::fate>},
    {"verdict", "verdict", as_text,
     [](const GradedRow& row) -> Value {
       return row.graded.fate == Graded::Fate::lacking
                  ? Value(to_string(Graded::Fate::undecided)) // what it lacks is why
              : row.graded.verdict.empty() ? Value(to_string(row.graded.fate))
                                           : Value(row.graded.verdict);
     }},
    {"right", nullptr, as_text, field<&GradedRow::graded, &Graded::right>},
    {"mistake", nullptr, as_text, [](const GradedRow& row) { return or_null(row.graded.mistake); }},
    {"reason", nullptr, as_text, [](const GradedRow& row) { return or_null(row.graded.reason); }},
    {nullptr, "why", as_text, short_reason},
    {"faults", "faults", as_text, field<&GradedRow::graded, &Graded::faults>},
    {"races", "races", as_text, field<&GradedRow::graded, &Graded::races>},
    {"leaks", "leaks", as_text, field<&GradedRow::graded, &Graded::leaks>},
    {"stopwatch", "stopwatch", as_text, field<&GradedRow::graded, &Graded::stopwatch>},
    {"copies_per_step", "copies a step", as_figure, field<&GradedRow::graded, &Graded::copies>},
    {"times_numpy", "vs numpy", as_ratio,
     [](const GradedRow& row) -> Value { return times_of(row.graded, "numpy"); }},
    {"times_best", "vs best", as_ratio,
     [](const GradedRow& row) -> Value { return times_of(row.graded, "best"); }},
    {"points", nullptr, as_text, points_of},
    {"of", nullptr, as_text, most_points_of},
    {"marks", nullptr, as_text, marks_text},
    {nullptr, "points", as_text,
     [](const GradedRow& row) { return or_null(points_text(row.grade)); }},
};

Value result_json(const GradedRow& row) {
  Value json = graded_json(row.graded);
  json["points"] = points_of(row);
  json["of"] = most_points_of(row);
  json["criteria"] = marks_json(row);
  return json;
}

bool has_mark(const ClassResult& result, Mark mark) {
  return std::ranges::any_of(result.rows, [mark](const GradedRow& row) {
    return std::ranges::count(row.grade.criteria, mark, &MarkedCriterion::mark) > 0;
  });
}

std::vector<std::string> notes_on(const ClassResult& result, const Rubric& rubric) {
  std::vector<std::string> notes;
  const auto undecided = std::ranges::count(result.rows, Graded::Fate::undecided,
                                            [](const GradedRow& row) { return row.graded.fate; });
  if (undecided > 0) {
    notes.push_back(fmt::format(
        "{} not decided: all runs of a file together took longer than {} times --timeout, or a "
        "program longer than --budget, which may be this machine's fault: give a longer time",
        counted(undecided, "submission"), runs_in_full));
  }
  if (has_mark(result, Mark::undecided)) {
    notes.push_back(fmt::format(
        "a criterion on time is not decided where the interval holds its factor, or other programs "
        "were running: it gives {} of its points (not_decided of the rubric)",
        to_string(rubric.not_decided)));
  }
  if (has_mark(result, Mark::not_judged)) {
    notes.emplace_back(
        "faults, races and leaks are judged of CUDA, residency of what is no whole program, times "
        "of the rest: what is not judged of a file is left out of its points and of what they are "
        "of");
  }
  if (!result.left_out.empty()) {
    notes.push_back(
        fmt::format("of other kinds, and left out: {}", fmt::join(result.left_out, ", ")));
  }
  return notes;
}

LabReport grade_report(const std::string& folder, const ClassPlan& plan, std::uint64_t seed,
                       const ClassResult& result) {
  LabReport report;
  report.text = format_rows(grade_columns, result.rows);
  report.notes = notes_on(result, plan.rubric);
  report.interrupted = result.interrupted;
  const auto count = [&result](auto holds) {
    return std::ranges::count_if(result.rows,
                                 [&](const GradedRow& row) { return holds(row.graded); });
  };
  report.done = fmt::format("{} of {} right.", count([](const Graded& g) { return g.right; }),
                            counted(std::ssize(result.rows), "submission"));
  const auto lacking = std::ranges::find(result.rows, Graded::Fate::lacking,
                                         [](const GradedRow& row) { return row.graded.fate; });
  if (lacking != result.rows.end()) {
    report.outcome = {exit_unavailable,
                      fmt::format("{}: {}", lacking->graded.name, lacking->graded.reason)};
  }
  report.rows = list_of(grade_columns, result.rows);
  report.columns = heads_of(grade_columns);
  report.columns.push_back({{"key", "points"}, {"name", "points"}, {"unit", ""}});
  report.pictures = {{"Points", Figure::bars, "name", "points"}};
  report.data = {{"folder", folder},
                 {"seed", seed},
                 {"rubric", rubric_json(plan.rubric)},
                 {"left_out", result.left_out},
                 {"results", Value::each(result.rows, result_json)}};
  return report;
}

} // namespace

void declare_class(OptionList& options, ClassPlan& plan) {
  options.group("A folder of a class");
  options.text("--rubric FILE", plan.rubric_file,
               described("what earns how many points, as JSON", "", "that of --print-rubric"));
  options.flag("--print-rubric", plan.print_rubric, "the default rubric, to begin with");
}

void complete(ClassPlan& plan) {
  if (!plan.rubric_file.empty()) {
    plan.rubric = read_rubric(plan.rubric_file);
  }
}

LabReport class_report(const std::string& folder, const ClassPlan& plan, TrialPlan trial,
                       Progress& progress) {
  trial.run.copy_roof = false; // the machine's, not a submission's
  return grade_report(folder, plan, trial.judge.seed, grade_class(folder, plan, trial, progress));
}

} // namespace diffbench::bench
