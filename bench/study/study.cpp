// SPDX-License-Identifier: Apache-2.0
#include "study.hpp"

#include "columns.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace diffbench::bench {

namespace {

using ShowRow = std::function<std::string(const StudyRow&)>;

/// What is within 5 % of the best is as good.
constexpr double nearly_fastest = 0.95;

Ratio time_ratio(const StudyRow& row, const StudyRow& other, bool apart) {
  return apart ? ratio_apart(row.samples, other.samples) : ratio_in_run(row.samples, other.samples);
}

template <typename Admits>
Leader<StudyRow> leader_of(const std::vector<StudyRow>& rows, Admits admits, const auto& of) {
  return leader(rows, admits, of.least_effect, [&of](const StudyRow& row, const StudyRow& best) {
    return time_ratio(row, best, of.apart);
  });
}

bool is_rival(const StudyRow& row) { return row.ranked() && !row.is_limit; }

/// Of the rows that have a time somewhere, in their order.
std::vector<std::string> timed_rows(const Study& study) {
  std::vector<std::string> names;
  for (const StudyPoint& point : study.points) {
    for (const StudyRow& row : point.rows) {
      if (row.ranked() && std::ranges::find(names, row.name) == names.end()) {
        names.push_back(row.name);
      }
    }
  }
  return names;
}

void add_cells(TextTable::Cells& cells, const StudyPoint& point,
               const std::vector<std::string>& names, const ShowRow& cell) {
  for (const std::string& name : names) {
    const auto row = std::ranges::find(point.rows, name, &StudyRow::name);
    cells.push_back(row == point.rows.end() ? no_value
                    : row->ranked()         ? cell(*row)
                    : row->wrong()          ? "WRONG"
                    : row->failed()         ? "failed"
                                            : no_value);
  }
}

std::string fastest_text(const Study& study, const StudyPoint& point) {
  const Leader<StudyRow> found = leader_of(point.rows, is_rival, study);
  return found.best == nullptr ? no_value
                               : found.best->name + (found.is_sure() ? "" : " (uncertain)");
}

} // namespace

std::string pivot(const Study& study, Evidence figures, const ShowRow& cell) {
  const std::vector<std::string> names = timed_rows(study);
  TextTable::Cells header = study.axes;
  for (const auto* more : {&study.facts, &names}) {
    header.insert(header.end(), more->begin(), more->end());
  }
  header.emplace_back("fastest");
  TextTable table(std::move(header));
  for (const StudyPoint& point : study.points) {
    TextTable::Cells cells = point.values;
    cells.insert(cells.end(), point.facts.begin(), point.facts.end());
    add_cells(cells, point, names, cell);
    cells.push_back(concludes(figures) ? fastest_text(study, point) : no_value);
    table.add(std::move(cells));
  }
  if (!concludes(figures)) {
    table.drop_empty();
  }
  return table.format();
}

std::string pivot_of(const std::string& what, const Study& study, const ShowRow& cell) {
  const std::vector<std::string> names = timed_rows(study);
  TextTable::Cells header{fmt::format("{}, {}", what, study.axes.front())};
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(std::move(header));
  for (const StudyPoint& point : study.points) {
    TextTable::Cells cells{point.values.front()};
    add_cells(cells, point, names, cell);
    table.add(std::move(cells));
  }
  return "\n" + table.format();
}

std::string place_text(const Study& study, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    if (!values[i].empty()) {
      parts.push_back(fmt::format("{} {}", study.axes[i], values[i]));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string step_text(const StudyRow& row) { return format_seconds(row.step_seconds()); }
std::string spread_text(const StudyRow& row) { return as_spread(relative_spread(row.samples)); }

LabReport study_report(const Study& study, const std::string& title, const std::string& rest) {
  LabReport report;
  report.text = title + pivot(study, Evidence::sound, step_text) + rest;
  report.figures = title + pivot(study, Evidence::disturbed, step_text) + rest;
  Value results = Value::list();
  std::vector<Ending> endings;
  std::map<std::string, std::vector<std::string>> troubles; // where each is
  for (const StudyPoint& point : study.points) {
    std::ranges::copy(endings_of(point.rows), std::back_inserter(endings));
    for (const StudyRow& row : point.rows) {
      Value json = row.json;
      for (std::size_t i = 0; i < study.axes.size() && row.json.is_null(); ++i) {
        json[study.axes[i]] = i < point.sizes.size() ? Value(point.sizes[i]) : point.values[i];
      }
      if (row.json.is_null()) {
        json["row"] = row.name;
        json["seconds"] = row.ranked() ? Value(row.step_seconds()) : Value();
      }
      results.push_back(std::move(json));
      if (row.ranked()) {
        report.series.push_back(row.series);
      }
      if (!row.trouble.empty()) {
        troubles[row.trouble].push_back(place_text(study, point.values));
      }
    }
  }
  report.data["results"] = std::move(results);
  report.pictures = {{"Times", Figure::lines, study.axes.empty() ? "" : study.axes.front(),
                      "seconds", "row", "xy"}};
  report.columns = Value::list({{{"key", "seconds"}, {"name", "time"}, {"unit", "s"}}});
  report.outcome = outcome_of(endings);
  for (const auto& [trouble, places] : troubles) {
    const std::string more =
        places.size() > 1 ? fmt::format(" and {} more", places.size() - 1) : "";
    report.notes.push_back(
        trouble + (places.front().empty() ? "" : fmt::format(" (at {}{})", places.front(), more)));
  }
  return report;
}

Pick best_of(std::function<bool(const StudyRow&)> admits) {
  return [admits = std::move(admits)](const StudyPoint& point) {
    return fastest(
        point.rows, [&](const StudyRow& row) { return is_rival(row) && admits(row); },
        &StudyRow::step_seconds);
  };
}

std::string fastest_where(const Study& study) {
  std::vector<std::pair<std::string, std::vector<std::string>>> stretches; // of one group each
  std::vector<std::string> open;
  for (const StudyPoint& point : study.points) {
    const StudyRow* const best = best_of([](const StudyRow&) { return true; })(point);
    const auto of_others = [&](const StudyRow& row) {
      return &row == best || (is_rival(row) && row.group != best->group);
    };
    if (best == nullptr || !leader_of(point.rows, of_others, study).is_sure()) {
      open.push_back(point.values.front());
    } else if (stretches.empty() || stretches.back().first != best->group) {
      stretches.push_back({best->group, {point.values.front()}});
    } else {
      stretches.back().second.push_back(point.values.front());
    }
  }
  std::vector<std::string> parts;
  for (const auto& [group, places] : stretches) {
    parts.push_back(fmt::format("{}{} at {} = {}", group, parts.empty() ? " is the fastest" : "",
                                study.axes.front(), fmt::join(places, ", ")));
  }
  if (!open.empty()) {
    parts.push_back(fmt::format("which is the fastest is uncertain at {} = {}", study.axes.front(),
                                fmt::join(open, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<Crossing> crossings(const Study& study, std::size_t along, const Pick& champion,
                                const Pick& challenger) {
  std::vector<std::pair<std::vector<std::string>, std::vector<Contest>>> curves;
  for (const StudyPoint& point : study.points) {
    const StudyRow* const old = champion(point);
    const StudyRow* const other = challenger(point);
    if (old == nullptr || other == nullptr || !old->ranked() || !other->ranked()) {
      continue;
    }
    std::vector<std::string> fixed = point.values;
    fixed[along].clear();
    auto curve = std::ranges::find(curves, fixed, [](const auto& each) { return each.first; });
    if (curve == curves.end()) {
      curve = curves.insert(curves.end(), {fixed, {}});
    }
    curve->second.push_back(
        {.size = point.sizes[along], .ratio = time_ratio(*other, *old, study.apart)});
  }
  std::vector<Crossing> found;
  for (auto& [fixed, contests] : curves) {
    if (contests.size() > 1) {
      std::ranges::sort(contests, {}, &Contest::size);
      found.push_back({along, fixed, *find_crossover(contests, study.least_effect)});
    }
  }
  return found;
}

Verdict judge(const Study& study, const StudyRow& row, const StudyRow& other) {
  return judge(time_ratio(row, other, study.apart), study.least_effect);
}

std::string crossing_text(std::string_view who, std::string_view whom, const Crossover& found,
                          std::string_view size, std::string_view unit) {
  if (found.size > 0 && std::isfinite(found.size)) {
    return fmt::format("{} is faster than {} from {} {}", who, whom, to_text(found), unit);
  }
  return fmt::format("{} is {} {}{}", who,
                     found.size == 0 ? fmt::format("faster than {} at every", whom)
                                     : fmt::format("not faster than {} at the largest", whom),
                     size, doubt_text(found, unit));
}

void PacedRows::add(StudyRow row, double work) {
  for (Sample& sample : row.samples) {
    sample.seconds /= work;
  }
  rows.push_back(std::move(row));
}

Leader<StudyRow> PacedRows::first() const { return leader_of(rows, is_rival, *this); }

const StudyRow* PacedRows::enough() const {
  const StudyRow* const best = first().best;
  if (best == nullptr) {
    return nullptr;
  }
  for (const StudyRow& row : rows) {
    const std::optional<bool> is_slower =
        &row == best ? std::optional(false)
                     : reaches(time_ratio(row, *best, apart), 1 / nearly_fastest);
    if (!is_slower || !*is_slower) {
      return is_slower ? &row : nullptr;
    }
  }
  return nullptr;
}

} // namespace diffbench::bench
