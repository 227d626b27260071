// SPDX-License-Identifier: Apache-2.0
#include "sweep_report.hpp"

#include "columns.hpp"
#include "peer.hpp"
#include "report_json.hpp"
#include "statistics.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

namespace diffbench::bench {

namespace {

struct MeasureKind {
  Measure measure;
  const char* name;
  const char* key; ///< of a row
};
constexpr MeasureKind measures[] = {{Measure::step, "step", "seconds_per_iteration"},
                                    {Measure::warm, "warm run", "end_to_end.warm_seconds"},
                                    {Measure::cold, "cold run", "end_to_end.cold_seconds"}};

/// "--grid" as a column: "grid".
std::string column(const std::string& option) { return option.substr(2); }

/// Of whole runs that varied as the steps of `samples`, of which there are some. By a factor, not a
/// difference: samples may vary by more than the one run took.
std::vector<Sample> whole_runs(std::vector<Sample> samples, double run, std::int64_t iterations) {
  const double median = iteration_quartiles(samples).median;
  const double steps = std::min(run, median * static_cast<double>(iterations));
  for (Sample& sample : samples) {
    sample = {.iterations = 1,
              .seconds = run - steps + steps * (sample.seconds_per_iteration() / median),
              .cpu_seconds = {}};
  }
  return samples;
}

StudyRow read_row(const ComparisonResult& result, const Row& row, Measure measure, Value json) {
  StudyRow own = study_row(row, {}, std::move(json));
  own.group = row.name;
  own.is_naive = row.roundtrip_every > 0;
  if ((own.refuted || own.failed()) && !row.reason.empty()) {
    own.trouble =
        fmt::format("{} {}: {}", row.name, own.refuted ? "is wrong" : "failed", row.reason);
  }
  if (!own.ranked()) {
    own.samples.clear();
  } else if (measure != Measure::step) {
    const auto& run = measure == Measure::warm ? row.warm : row.cold;
    own.samples =
        run ? whole_runs(row.samples, run->wall, result.iterations) : std::vector<Sample>();
  }
  return own;
}

StudyPoint read_point(const SweepPlan& swept, const SweepPoint& point, Measure measure) {
  const Problem& problem = point.result.problem;
  const auto cells = static_cast<double>(problem.cells());
  StudyPoint own{.values = point.values};
  std::string name = fmt::format("{}/{}x{}", to_string(problem.dtype), problem.nx, problem.ny);
  Value setting = Value::object();
  for (std::size_t i = 0; i < swept.axes.size(); ++i) {
    const std::string axis = column(swept.axes[i].option);
    setting[axis] = point.values[i];
    name += fmt::format("/{}:{}", axis, point.values[i]);
    own.sizes.push_back(axis == "grid" ? std::sqrt(cells)
                                       : static_cast<double>(point.result.iterations));
  }
  for (const Row& row : point.result.rows) {
    Value line = setting;
    const Value json = row_json(point.result, row);
    for (const auto& [key, value] : std::get<Value::Object>(json.data())) {
      line[key] = value;
    }
    StudyRow& added = own.rows.emplace_back(read_row(point.result, row, measure, std::move(line)));
    added.series = {.name = fmt::format("sweep/{}/{}", row.name, name),
                    .threads = row.provenance.threads,
                    .samples = added.samples,
                    .per_iteration = {{"cells_per_second", cells}}};
  }
  return own;
}

Value result_json(const ComparisonResult& result) {
  Value own = to_json(result);
  own["schema"] = result_schema;
  own["interrupted"] = result.interrupted;
  own["disturbed"] = result.disturbed;
  own["sentence"] = concluded(evidence(result.disturbed), verdict(result));
  own["notes"] = result.notes;
  return own;
}

/// A crossing by one of the measures.
struct SweepCrossing : Crossing {
  const MeasureKind* by = nullptr;
  const Study* study = nullptr;
  const CrossedRows* rows = nullptr;

  [[nodiscard]] const std::string& axis() const { return study->axes[along]; }
};

Value fixed_values(const SweepCrossing& crossing) {
  Value values = Value::object();
  for (std::size_t i = 0; i < crossing.fixed.size(); ++i) {
    if (i != crossing.along) {
      values[crossing.study->axes[i]] = crossing.fixed[i];
    }
  }
  return values;
}

Value wins(const SweepCrossing& crossing) {
  const double size = crossing.crossover.size;
  return size == 0 ? "everywhere" : std::isfinite(size) ? "from" : "nowhere";
}

constexpr Column<SweepCrossing> crossing_columns[] = {
    {"along", "along", as_text, field<&SweepCrossing::axis>},
    {"at", "at", as_text, fixed_values,
     [](const SweepCrossing& c) { return place_text(*c.study, c.fixed); }},
    {"measure", "by", as_text, field<&SweepCrossing::by, &MeasureKind::name>},
    {"champion", nullptr, as_text,
     [](const SweepCrossing& c) -> Value {
       return c.rows->named() ? c.rows->champion : "best CPU";
     }},
    {"challenger", nullptr, as_text,
     [](const SweepCrossing& c) -> Value {
       return c.rows->named() ? c.rows->challenger : "best GPU";
     }},
    {"devices", nullptr, as_text, [](const SweepCrossing& c) -> Value { return !c.rows->named(); }},
    {"wins", nullptr, as_text, wins},
    {"from", "from", as_text, field<&SweepCrossing::crossover, &Crossover::size>,
     [](const SweepCrossing& c) { return to_text(c.crossover); }},
    {"low", nullptr, as_text, field<&SweepCrossing::crossover, &Crossover::low>},
    {"high", nullptr, as_text, field<&SweepCrossing::crossover, &Crossover::high>},
    {"single", nullptr, as_text, field<&SweepCrossing::crossover, &Crossover::single>},
};

/// Along --grid where it is an axis (the size is the side of a square with as many cells), then
/// along --iters. A step does not depend on their number, so that measure has none along --iters.
std::vector<SweepCrossing> find_crossings(const std::vector<Study>& studies,
                                          const CrossedRows& crossed) {
  const auto row_of = [&](const std::string& name, DeviceKind device) -> Pick {
    if (!crossed.named()) {
      return best_of([device](const StudyRow& row) {
        return row.device == device && !row.is_naive && !names_peer(row.name);
      });
    }
    return [&name](const StudyPoint& point) {
      const auto row = std::ranges::find(point.rows, name, &StudyRow::name);
      return row == point.rows.end() ? nullptr : &*row;
    };
  };
  std::vector<SweepCrossing> all;
  for (std::size_t along = 0; along < studies.front().axes.size(); ++along) {
    const std::string& axis = studies.front().axes[along];
    for (const MeasureKind& by : measures) {
      const Study& study = studies[static_cast<std::size_t>(by.measure)];
      if (axis == "grid" || (axis == "iters" && by.measure != Measure::step)) {
        for (const Crossing& each :
             crossings(study, along, row_of(crossed.champion, DeviceKind::cpu),
                       row_of(crossed.challenger, DeviceKind::cuda))) {
          all.push_back({each, &by, &study, &crossed});
        }
      }
    }
  }
  return all;
}

std::string title(const SweepPlan& swept, std::size_t measured) {
  std::vector<std::string> axes;
  for (const Axis& axis : swept.axes) {
    axes.push_back(fmt::format("{} {}", axis.values.size(), column(axis.option)));
  }
  const std::size_t all = swept.count();
  return fmt::format("sweep of {}{}{}{}\n\ntime of an iteration\n", counted(all, "combination"),
                     axes.empty() ? "" : ": ", fmt::join(axes, " x "),
                     measured == all ? "" : fmt::format("; {} measured so far", measured));
}

/// Times along each axis, with the crossings.
std::vector<Picture> pictures_of(const Study& study, const std::vector<SweepCrossing>& crossings,
                                 const std::string& winner) {
  std::vector<Picture> pictures;
  for (std::size_t along = 0; along < study.axes.size(); ++along) {
    for (const MeasureKind& by : measures) {
      const bool is_step = by.measure == Measure::step;
      if (study.axes[along] == "iters" && is_step && study.axes.size() > 1) {
        continue; // a step does not depend on their number
      }
      Picture& picture = pictures.emplace_back(
          Picture{fmt::format("Time of a {}, by {}", by.name, study.axes[along]), Figure::lines,
                  fmt::format("values.{}", along), by.key, "backend", "xy", "points.result.results",
                  is_step ? "seconds_per_iteration_interval" : ""});
      for (std::size_t other = 0; other < study.axes.size(); ++other) {
        picture.by += other == along ? "" : fmt::format(" values.{}", other);
      }
      for (const SweepCrossing& crossing : crossings) {
        const Crossover& at = crossing.crossover;
        if (crossing.along == along && crossing.by == &by && at.size > 0 &&
            std::isfinite(at.size)) {
          picture.marks.push_back(
              {at.size, at.low, at.high, fmt::format("{} wins from {}", winner, to_text(at))});
        }
      }
    }
  }
  return pictures;
}

std::string finding(const SweepCrossing& crossing, std::string_view winner,
                    std::string_view loser) {
  const std::string place = place_text(*crossing.study, crossing.fixed);
  const bool grid = crossing.axis() == "grid";
  return fmt::format("{} (by {}{}{})",
                     crossing_text(winner, loser, crossing.crossover,
                                   grid ? "grid of this sweep" : "iteration count of this sweep",
                                   grid ? "cells a side" : "iterations"),
                     crossing.by->name, place.empty() ? "" : " at ", place);
}

/// The crossing that matters most to a user: of whole runs of the most iterations; and that of
/// steps, where it is another: the table of times is of these.
std::string sentence(const std::vector<SweepCrossing>& crossings, const CrossedRows& crossed,
                     bool any_gpu) {
  if (!crossed.named() && !any_gpu) {
    return "No GPU row has a time, so there is no crossover with the CPU; --cross A,B says where "
           "row B begins to beat row A.";
  }
  const std::string winner = crossed.named() ? crossed.challenger : "the GPU";
  const std::string loser = crossed.named() ? crossed.champion : "the best CPU row";
  const auto last_by = [&](Measure measure) {
    const SweepCrossing* found = nullptr;
    for (const SweepCrossing& crossing : crossings) {
      if (crossing.along == crossings.front().along && crossing.by->measure == measure) {
        found = &crossing;
      }
    }
    return found;
  };
  const SweepCrossing* const runs = last_by(Measure::warm);
  const SweepCrossing* const steps = last_by(Measure::step);
  if (runs == nullptr && steps == nullptr) {
    return fmt::format(
        "The crossover of {} with {} needs two grids or iteration counts at which "
        "both have times.",
        winner, loser);
  }
  std::string text = finding(runs != nullptr ? *runs : *steps, winner, loser);
  if (runs != nullptr && steps != nullptr &&
      to_text(runs->crossover) != to_text(steps->crossover)) {
    text += "; " + finding(*steps, winner, loser);
  }
  return text + ".";
}

/// The values of a point are those of the axes, in their order.
Value axis_heads(const Study& study) {
  Value heads = row_heads();
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    heads.push_back({{"key", fmt::format("values.{}", i)}, {"name", study.axes[i]}, {"unit", ""}});
  }
  return heads;
}

} // namespace

Study sweep_study(const SweepPlan& swept, const std::vector<SweepPoint>& points, Measure measure) {
  Study study{.apart = true};
  std::ranges::transform(swept.axes, std::back_inserter(study.axes),
                         [](const Axis& axis) { return column(axis.option); });
  std::ranges::transform(points, std::back_inserter(study.points), [&](const SweepPoint& point) {
    return read_point(swept, point, measure);
  });
  return study;
}

LabReport sweep_report(const SweepPlan& swept, const std::vector<SweepPoint>& points,
                       const CrossedRows& crossed) {
  std::vector<Study> studies;
  for (const MeasureKind& kind : measures) {
    studies.push_back(sweep_study(swept, points, kind.measure));
  }
  const Study& steps = studies.front();
  const std::vector<SweepCrossing> crossings = find_crossings(studies, crossed);
  const Pick best_gpu = best_of([](const StudyRow& row) { return row.device == DeviceKind::cuda; });
  const bool any_gpu = std::ranges::any_of(
      steps.points, [&](const StudyPoint& point) { return best_gpu(point) != nullptr; });
  const std::string winner = crossed.named() ? crossed.challenger : "the GPU";
  LabReport report = study_report(steps, title(swept, points.size()));
  if (!crossings.empty()) {
    report.text +=
        fmt::format("\nfrom where {} wins\n{}", winner, format_rows(crossing_columns, crossings));
  }
  report.sentence = sentence(crossings, crossed, any_gpu);
  Value given = Value::object();
  for (const auto& [option, values] : swept.options) {
    given[option] = values;
  }
  Value axes = Value::object();
  for (const Axis& axis : swept.axes) {
    axes[column(axis.option)] = axis.values;
  }
  const Value rows = report.data.find("results");
  report.data = {{"options", std::move(given)},
                 {"axes", std::move(axes)},
                 {"combinations", swept.count()},
                 {"crossovers", list_of(crossing_columns, crossings)},
                 {"points", Value::each(points, [](const SweepPoint& point) -> Value {
                    return {{"values", point.values},
                            {"seconds", point.seconds},
                            {"result", result_json(point.result)}};
                  })}};
  report.columns = axis_heads(steps);
  report.pictures = pictures_of(steps, crossings, winner);
  report.found_in_data = {"crossovers"};
  report.rows = rows;
  report.interrupted = points.size() < swept.count();
  const auto disturbed =
      std::ranges::count_if(points, [](const SweepPoint& point) { return point.result.disturbed; });
  if (disturbed > 0) {
    report.disturbed = true;
    report.notes.push_back(fmt::format(
        "other programs were running during {} of {} combinations; times are known better "
        "without them",
        disturbed, points.size()));
  }
  if (std::ranges::any_of(crossings, [](const auto& one) { return !one.crossover.single; })) {
    report.findings.emplace_back(
        "the ratio of the two rows crosses 1 more than once; the last crossing is given");
  }
  return report;
}

void append_assumed_curve(LabReport& report, const AssumedCard& card,
                          const std::vector<SweepPoint>& points) {
  const std::string name = "cuda_stream, waiting";
  Value rows = Value::list();
  Value curve = Value::list(); // of numbers, as a line wants them: a span is two lines
  TextTable table({"", "a step of " + assumed_name(name, card)});
  for (const SweepPoint& point : points) {
    const Problem& problem = point.result.problem;
    const AssumedRun run = assume(card, name,
                                  {.cells = static_cast<double>(problem.cells()),
                                   .steps = static_cast<double>(point.result.iterations),
                                   .waits_each_step = true},
                                  stencil_work(problem.dtype));
    const std::string place = fmt::format("{}", fmt::join(point.values, ", "));
    const auto add = [&](const std::string& row, double seconds, bool is_assumed) {
      curve.push_back({{"place", place},
                       {"backend", row},
                       {"assumed", is_assumed ? Value(card.id) : Value()},
                       {"seconds_per_iteration", seconds}});
    };
    for (const Row& row : point.result.rows) {
      if (row.ranked()) {
        add(row.name, row.step_seconds(), false);
      }
    }
    add(fmt::format("assumed {}, at best", card.id), run.step.low, true);
    add(fmt::format("assumed {}, at worst", card.id), run.step.high, true);
    rows.push_back({{"place", place},
                    {"backend", name},
                    {"assumed", card.id},
                    {"seconds_per_step", span_json(run.step)}});
    table.add({place, seconds_text(run.step)});
  }
  append_table(report, assumed_title(card) + table.format());
  report.data["assumed"] = {{"card", card.id}, {"name", card.name}, {"steps", rows}};
  report.data["curve"] = curve;
  report.pictures.insert(report.pictures.begin(),
                         {"Time of a step, beside an assumed card", Figure::lines, "place",
                          "seconds_per_iteration", "backend", "xy", "curve"});
  add_marked_rows(report, report.data.find("assumed.steps"));
}

} // namespace diffbench::bench
