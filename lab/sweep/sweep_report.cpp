// SPDX-License-Identifier: Apache-2.0
#include "sweep_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "json.hpp"
#include "report_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

/// "--grid" as a column: "grid".
std::string column(const std::string& option) { return option.substr(2); }

std::vector<SweepRows> rows_in_order(const SweptAxes& swept,
                                     const std::vector<SweepPoint>& points) {
  std::vector<SweepRows> ordered;
  for (std::size_t number = 0; number < swept.count(); ++number) {
    const auto point = std::ranges::find(points, swept.values(number), &SweepPoint::values);
    if (point != points.end()) {
      ordered.push_back(read_rows(*point));
    }
  }
  return ordered;
}

Value median_step_of(const SweepRow& row) {
  return row.samples.empty() ? Value() : Value(row.median_step());
}

/// Beside the values of the axes.
constexpr Column<SweepRow> sweep_columns[] = {
    {"backend", nullptr, as_text, field<&SweepRow::name>},
    {"device", nullptr, as_text, field<&SweepRow::device>},
    {"threads", nullptr, as_text, field<&SweepRow::threads>},
    {"wrong", nullptr, as_text, field<&SweepRow::wrong>},
    {"failure", nullptr, as_text, field<&SweepRow::failure, or_null>},
    {"seconds_per_iteration", nullptr, as_seconds, median_step_of},
    {"cold_seconds", nullptr, as_seconds, field<&SweepRow::cold_seconds>},
    {"warm_seconds", nullptr, as_seconds, field<&SweepRow::warm_seconds>},
};

Value sweep_lines(const SweptAxes& swept, const std::vector<SweepRows>& points) {
  Value lines = Value::list();
  for (const SweepRows& point : points) {
    Value setting;
    for (std::size_t i = 0; i < swept.axes.size(); ++i) {
      setting[column(swept.axes[i].option)] = point.values[i];
    }
    for (const SweepRow& row : point.rows) {
      lines.push_back(object_of(sweep_columns, row, setting));
    }
  }
  return lines;
}

/// Names of the rows that have a time anywhere.
std::vector<std::string> timed_rows(const std::vector<SweepRows>& points) {
  std::vector<std::string> names;
  for (const SweepRows& point : points) {
    for (const SweepRow& row : point.rows) {
      if (!row.samples.empty() && std::ranges::find(names, row.name) == names.end()) {
        names.push_back(row.name);
      }
    }
  }
  return names;
}

std::string step_text(const SweepRow* row) {
  if (row == nullptr || row->wrong || !row->failure.empty()) {
    return row == nullptr ? no_value : row->wrong ? "WRONG" : "failed";
  }
  return as_seconds(median_step_of(*row));
}

std::string fastest_name(const SweepRows& point) {
  const SweepRow* best = nullptr;
  for (const SweepRow& row : point.rows) {
    if (!row.samples.empty() && (best == nullptr || row.median_step() < best->median_step())) {
      best = &row;
    }
  }
  if (best == nullptr) {
    return no_value;
  }
  const bool sure = std::ranges::all_of(point.rows, [&](const SweepRow& row) {
    return &row == best || row.samples.empty() ||
           judge(ratio_apart(iteration_seconds(row.samples), iteration_seconds(best->samples)),
                 least_effect_in_run) == Verdict::slower;
  });
  return best->name + (sure ? "" : " (uncertain)");
}

std::string times_table(const SweptAxes& swept, const std::vector<SweepRows>& points,
                        Evidence figures) {
  const std::vector<std::string> names = timed_rows(points);
  TextTable::Cells header;
  for (const Axis& axis : swept.axes) {
    header.push_back(column(axis.option));
  }
  header.insert(header.end(), names.begin(), names.end());
  header.emplace_back("fastest");
  TextTable table(header);
  for (const SweepRows& point : points) {
    TextTable::Cells cells = point.values;
    for (const std::string& name : names) {
      cells.push_back(step_text(point.find(name)));
    }
    cells.push_back(concludes(figures) ? fastest_name(point) : no_value);
    table.add(std::move(cells));
  }
  if (!concludes(figures)) {
    table.drop_empty();
  }
  return "time of an iteration\n" + table.format();
}

/// One line for each fixed rest, one column for each measure.
std::string crossings_table(const std::vector<Crossing>& crossings, const std::string& along,
                            std::string_view question) {
  std::vector<const Crossing*> mine;
  for (const Crossing& crossing : crossings) {
    if (crossing.along == along) {
      mine.push_back(&crossing);
    }
  }
  if (mine.empty()) {
    return "";
  }
  TextTable::Cells header;
  for (const auto& [option, value] : mine.front()->fixed) {
    header.push_back(column(option));
  }
  header.insert(header.end(), {"by step", "by warm run", "by cold run"});
  TextTable table(header);
  for (std::size_t i = 0; i < mine.size();) {
    const auto& fixed = mine[i]->fixed;
    TextTable::Cells cells;
    for (const auto& [option, value] : fixed) {
      cells.push_back(value);
    }
    const std::size_t first = cells.size();
    cells.resize(first + 3, no_value);
    for (; i < mine.size() && mine[i]->fixed == fixed; ++i) {
      cells[first + static_cast<std::size_t>(mine[i]->measure)] = to_text(mine[i]->crossover);
    }
    table.add(std::move(cells));
  }
  return fmt::format("\n{}\n{}", question, table.format());
}

std::string title(const SweptAxes& swept, std::size_t measured) {
  std::vector<std::string> axes;
  for (const Axis& axis : swept.axes) {
    axes.push_back(fmt::format("{} {}", axis.values.size(), column(axis.option)));
  }
  const std::size_t all = swept.count();
  return fmt::format("sweep of {} combination{}{}{}{}\n\n", all, all == 1 ? "" : "s",
                     axes.empty() ? "" : ": ", fmt::join(axes, " x "),
                     measured == all ? "" : fmt::format("; {} measured so far", measured));
}

/// Times over the grid and over the iterations, whichever are swept, with the crossings.
std::vector<Picture> pictures_of(const SweptAxes& swept, const std::vector<Crossing>& crossings,
                                 const std::string& winner) {
  constexpr std::pair<Measure, const char*> keys[] = {{Measure::step, "seconds_per_iteration"},
                                                      {Measure::warm, "end_to_end.warm_seconds"},
                                                      {Measure::cold, "end_to_end.cold_seconds"}};
  std::vector<Picture> pictures;
  for (std::size_t i = 0; i < swept.axes.size(); ++i) {
    const std::string& along = swept.axes[i].option;
    for (const auto& [measure, key] : keys) {
      if (along == "--iters" && measure == Measure::step && swept.axes.size() > 1) {
        continue; // a step does not depend on their number
      }
      Picture picture{fmt::format("Time of a {}, by {}", to_string(measure), column(along)),
                      Figure::lines,
                      fmt::format("values.{}", i),
                      key,
                      "backend",
                      "xy",
                      "points.result.results",
                      measure == Measure::step ? "seconds_per_iteration_interval" : ""};
      for (std::size_t other = 0; other < swept.axes.size(); ++other) {
        if (other != i) {
          picture.by += fmt::format(" values.{}", other);
        }
      }
      for (const Crossing& crossing : crossings) {
        const Crossover& at = crossing.crossover;
        if (crossing.along == along && crossing.measure == measure && at.size > 0 &&
            std::isfinite(at.size)) {
          picture.marks.push_back({.at = at.size,
                                   .low = at.low,
                                   .high = at.high,
                                   .text = fmt::format("{} wins from {}", winner, to_text(at))});
        }
      }
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

/// The values of a point are those of the axes, in their order.
Value axis_heads(const SweptAxes& swept) {
  Value heads = row_heads();
  for (std::size_t i = 0; i < swept.axes.size(); ++i) {
    heads.push_back({{"key", fmt::format("values.{}", i)},
                     {"name", column(swept.axes[i].option)},
                     {"unit", ""}});
  }
  return heads;
}

/// "beats B at every grid of this sweep (by step at iters 100)"
std::string finding(const Crossing& crossing, const std::string& loser) {
  std::vector<std::string> where;
  for (const auto& [option, value] : crossing.fixed) {
    where.push_back(fmt::format("{} {}", column(option), value));
  }
  const Crossover& at = crossing.crossover;
  const std::string context = fmt::format("by {}{}{}", to_string(crossing.measure),
                                          where.empty() ? "" : " at ", fmt::join(where, ", "));
  const bool grid = crossing.along == "--grid";
  if (at.size == 0 || !std::isfinite(at.size)) {
    return fmt::format("{} {} at {} {} of this sweep ({}){}",
                       at.size == 0 ? "beats" : "does not beat", loser,
                       at.size == 0 ? "every" : "the largest", grid ? "grid" : "iteration count",
                       context, doubt_text(at));
  }
  return fmt::format("begins to beat {} at {} {} ({}{})", loser,
                     grid ? "a grid side of" : "an iteration count of", to_text(at), context,
                     at.single ? "" : ", the last of several crossings");
}

/// Of steps, where the same question about runs is answered in another way: the table of times is
/// of steps. Null where they agree.
const Crossing* other_of_steps(const std::vector<Crossing>& crossings, const Crossing& chosen) {
  const auto steps = std::ranges::find_if(crossings, [&](const Crossing& crossing) {
    return crossing.measure == Measure::step && crossing.along == chosen.along &&
           crossing.fixed == chosen.fixed;
  });
  return steps == crossings.end() || to_text(steps->crossover) == to_text(chosen.crossover)
             ? nullptr
             : &*steps;
}

/// The crossover that matters most to a user: of whole runs of the most iterations, else of steps.
std::string sentence(const std::vector<Crossing>& crossings, const CrossedRows& crossed,
                     bool any_gpu) {
  if (!crossed.named() && !any_gpu) {
    return "No GPU row has a time, so there is no crossover with the CPU; --cross A,B says where "
           "row B begins to beat row A.";
  }
  const std::string winner = crossed.named() ? crossed.challenger : "the GPU";
  const std::string loser = crossed.named() ? crossed.champion : "the best CPU row";
  const Crossing* chosen = nullptr;
  for (const Crossing& crossing : crossings) {
    const bool better = chosen == nullptr ||
                        (crossing.along == chosen->along &&
                         (crossing.measure == Measure::warm || chosen->measure == Measure::step));
    if (better && (chosen == nullptr || crossing.measure != Measure::cold)) {
      chosen = &crossing;
    }
  }
  if (chosen == nullptr) {
    return fmt::format(
        "The crossover of {} with {} needs two grids or iteration counts at which "
        "both have times.",
        winner, loser);
  }
  const Crossing* const steps = other_of_steps(crossings, *chosen);
  return fmt::format("{} {}{}.", winner, finding(*chosen, loser),
                     steps == nullptr ? "" : "; of steps alone it " + finding(*steps, loser));
}

Value crossings_json(const std::vector<Crossing>& crossings, const CrossedRows& crossed) {
  return Value::each(crossings, [&](const Crossing& crossing) -> Value {
    const Crossover& at = crossing.crossover;
    Value fixed = Value::object();
    for (const auto& [option, value] : crossing.fixed) {
      fixed[column(option)] = value;
    }
    return {{"along", column(crossing.along)},
            {"at", std::move(fixed)},
            {"measure", to_string(crossing.measure)},
            {"champion", crossed.named() ? crossed.champion : "best CPU"},
            {"challenger", crossed.named() ? crossed.challenger : "best GPU"},
            {"devices", !crossed.named()},
            {"wins", at.size == 0             ? "everywhere"
                     : std::isfinite(at.size) ? "from"
                                              : "nowhere"},
            {"from", at.size},
            {"low", at.low},
            {"high", at.high},
            {"single", at.single}};
  });
}

std::vector<SampleSeries> series_of(const SweptAxes& swept, const std::vector<SweepRows>& points) {
  std::vector<SampleSeries> series;
  for (const SweepRows& point : points) {
    std::string settings;
    for (std::size_t i = 0; i < swept.axes.size(); ++i) {
      settings += fmt::format("/{}:{}", column(swept.axes[i].option), point.values[i]);
    }
    for (const SweepRow& row : point.rows) {
      if (!row.samples.empty()) {
        series.push_back(
            {.name = fmt::format("sweep/{}/{}/{}x{}{}", row.name, point.dtype, point.nx, point.ny,
                                 settings),
             .threads = row.threads,
             .samples = row.samples,
             .per_iteration = {{"cells_per_second", static_cast<double>(point.nx * point.ny)}}});
      }
    }
  }
  return series;
}

/// Of all combinations.
std::vector<Ending> endings_of(const std::vector<SweepRows>& points) {
  std::vector<Ending> endings;
  for (const SweepRows& point : points) {
    for (const SweepRow& row : point.rows) {
      endings.push_back(row.ending());
    }
  }
  return endings;
}

/// "fused failed at grid 64, iters 10 and 3 more: ...", once for each row and reason.
std::vector<std::string> failure_notes(const SweptAxes& swept,
                                       const std::vector<SweepRows>& points) {
  struct Failure {
    std::string first;
    int others = 0;
  };
  std::map<std::pair<std::string, std::string>, Failure> failures; // by row and reason
  for (const SweepRows& point : points) {
    std::vector<std::string> where;
    for (std::size_t i = 0; i < swept.axes.size(); ++i) {
      where.push_back(fmt::format("{} {}", column(swept.axes[i].option), point.values[i]));
    }
    for (const SweepRow& row : point.rows) {
      if (!row.failure.empty()) {
        const auto [failure, is_new] = failures.try_emplace(
            {row.name, row.failure}, Failure{.first = fmt::format("{}", fmt::join(where, ", "))});
        failure->second.others += is_new ? 0 : 1;
      }
    }
  }
  std::vector<std::string> notes;
  for (const auto& [row_and_reason, failure] : failures) {
    const auto& [row, reason] = row_and_reason;
    notes.push_back(
        fmt::format("{} failed{}{}: {}", row, failure.first.empty() ? "" : " at " + failure.first,
                    failure.others > 0 ? fmt::format(" and {} more", failure.others) : "", reason));
  }
  return notes;
}

} // namespace

LabReport sweep_report(const SweptAxes& swept, const std::vector<SweepPoint>& points,
                       const CrossedRows& crossed) {
  const std::vector<SweepRows> rows = rows_in_order(swept, points);
  const std::vector<Crossing> crossings = find_crossings(swept.axes, rows, crossed);
  const bool any_gpu = std::ranges::any_of(rows, [](const SweepRows& point) {
    return std::ranges::any_of(point.rows, [](const SweepRow& row) {
      return row.device == DeviceKind::cuda && !row.samples.empty();
    });
  });
  const std::string winner = crossed.named() ? crossed.challenger : "the GPU";
  LabReport report;
  const std::string heading = title(swept, rows.size());
  report.figures = heading + times_table(swept, rows, Evidence::disturbed);
  report.text =
      heading + times_table(swept, rows, Evidence::sound) +
      crossings_table(crossings, "--grid",
                      fmt::format("side of the grid from which {} wins", winner)) +
      crossings_table(crossings, "--iters", fmt::format("iterations from which {} wins", winner));
  report.sentence = sentence(crossings, crossed, any_gpu);
  Value given = Value::object();
  for (const auto& [option, values] : swept.options) {
    given[option] = values;
  }
  Value axes = Value::object();
  for (const Axis& axis : swept.axes) {
    axes[column(axis.option)] = axis.values;
  }
  report.data = {{"options", std::move(given)},
                 {"axes", std::move(axes)},
                 {"combinations", swept.count()},
                 {"crossovers", crossings_json(crossings, crossed)},
                 {"points", Value::each(points, [](const SweepPoint& point) -> Value {
                    return {{"values", point.values},
                            {"seconds", point.seconds},
                            {"result", value_of(point.result)}};
                  })}};
  report.columns = axis_heads(swept);
  report.pictures = pictures_of(swept, crossings, winner);
  report.found_in_data = {"crossovers"};
  report.rows = sweep_lines(swept, rows);
  report.series = series_of(swept, rows);
  report.outcome = outcome_of(endings_of(rows));
  report.interrupted = rows.size() < swept.count();
  report.notes = failure_notes(swept, rows);
  if (const auto count = std::ranges::count(rows, true, &SweepRows::disturbed); count > 0) {
    report.disturbed = true;
    report.notes.push_back(fmt::format(
        "other programs were running during {} of {} combinations, so times are too long "
        "there and their order may be wrong; measure again when they are done",
        count, rows.size()));
  }
  if (std::ranges::any_of(crossings, [](const Crossing& one) { return !one.crossover.single; })) {
    report.findings.emplace_back(
        "the ratio of the two rows crosses 1 more than once; the last crossing is given");
  }
  return report;
}

} // namespace diffbench::bench
