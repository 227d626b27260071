// SPDX-License-Identifier: Apache-2.0
// What `mlp depth` and `mlp width` say: the time of a step and of 100 epochs by size, who wins from
// where, and what issuing operations costs a peer.
#include "columns.hpp"
#include "conclusion.hpp"
#include "crossover.hpp"
#include "sizes.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

const RaceRow* best_peer(const SizePoint& point) {
  return fastest(point.race.rows, std::mem_fn(&RaceRow::is_peer));
}
const RaceRow* best_engine(const SizePoint& point) {
  return fastest(point.race.rows, std::not_fn(std::mem_fn(&RaceRow::is_peer)));
}

Leader<RaceRow> fastest_row(const SizePoint& point) {
  return leader(
      point.race.rows, [](const RaceRow& row) { return row.ranked() && !row.is_roof; },
      point.race.least_effect);
}
/// Held against the other engines: which of its own numbers of threads is the best does not count.
Leader<RaceRow> fastest_engine(const SizePoint& point) {
  const RaceRow* const best = best_engine(point);
  return leader(
      point.race.rows,
      [&](const RaceRow& row) {
        return &row == best || (row.ranked() && !row.is_roof && !row.is_peer() && best != nullptr &&
                                row.engine != best->engine);
      },
      point.race.least_effect);
}

/// All rows that have a time at some size, in the order of the race.
std::vector<std::string> timed_rows(const SizeStudy& study) {
  std::vector<std::string> names;
  for (const SizePoint& point : study.points) {
    for (const RaceRow& row : point.race.rows) {
      if (row.ranked() && std::ranges::find(names, row.name) == names.end()) {
        names.push_back(row.name);
      }
    }
  }
  return names;
}

bool all_verified(const SizePoint& point) {
  return std::ranges::all_of(point.race.rows, [](const RaceRow& row) {
    return row.is_roof || row.status != Status::ok || (row.check && row.check->ok());
  });
}

/// Of all sizes: the small nets are always the same.
std::string proof_line(const SizeStudy& study) {
  for (const SizePoint& point : study.points) {
    if (std::string line = format_small_nets(point.race.rows); !line.empty()) {
      return line;
    }
  }
  return "";
}

/// A column a row: what `cell` says of it at this size.
template <typename Cell>
void add_cells(TextTable::Cells& cells, const SizePoint& point,
               const std::vector<std::string>& names, Cell cell) {
  for (const std::string& name : names) {
    const auto row = std::ranges::find(point.race.rows, name, &RaceRow::name);
    cells.push_back(row != point.race.rows.end() && row->ranked() ? cell(*row) : no_value);
  }
}

std::string spread_of(const RaceRow& row) { return as_spread(relative_spread(row.samples)); }

std::string step_table(const SizeStudy& study, const std::vector<std::string>& names) {
  TextTable::Cells header{study.symbol, "parameters", "MFLOP/step"};
  header.insert(header.end(), names.begin(), names.end());
  header.insert(header.end(), {"fastest", "against peer", "verified"});
  TextTable table(header);
  for (const SizePoint& point : study.points) {
    TextTable::Cells cells{std::to_string(point.size), std::to_string(point.network.parameters()),
                           format_figure(point.network.flops_per_step(study.batch) / 1e6)};
    add_cells(cells, point, names,
              [](const RaceRow& row) { return format_seconds(row.step_seconds()); });
    const RaceRow* const engine = best_engine(point);
    const RaceRow* const peer = best_peer(point);
    const Leader<RaceRow> first = fastest_row(point);
    cells.push_back(first.best == nullptr
                        ? no_value
                        : first.best->name + (first.is_sure() ? "" : " (uncertain)"));
    cells.push_back(engine != nullptr && peer != nullptr
                        ? as_ratio(peer->step_seconds() / engine->step_seconds())
                        : no_value);
    cells.push_back(all_verified(point) ? "yes" : "NO");
    table.add(std::move(cells));
  }
  table.drop_empty();
  return table.format();
}

template <typename Cell>
std::string row_table(const SizeStudy& study, const std::vector<std::string>& names,
                      const char* title, Cell cell) {
  TextTable::Cells header{title + study.symbol};
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(std::move(header));
  for (const SizePoint& point : study.points) {
    TextTable::Cells cells{std::to_string(point.size)};
    add_cells(cells, point, names, cell);
    table.add(std::move(cells));
  }
  return table.format();
}

/// From how many parameters `challenger` wins against `champion`, each at its best.
template <typename Champion, typename Challenger>
std::optional<Crossover> crossover(const SizeStudy& study, Champion champion,
                                   Challenger challenger) {
  std::vector<Contest> contests;
  double least_effect = least_effect_in_run;
  for (const SizePoint& point : study.points) {
    const RaceRow* const old = champion(point);
    const RaceRow* const other = challenger(point);
    if (old != nullptr && other != nullptr) {
      contests.push_back({.size = static_cast<double>(point.network.parameters()),
                          .ratio = ratio_in_run(other->samples, old->samples)});
      least_effect = point.race.least_effect;
    }
  }
  return find_crossover(contests, least_effect);
}

std::string from_where(const std::string& who, const std::string& whom, const Crossover& found) {
  if (found.size == 0) {
    return fmt::format("{} is faster than {} at every size{}", who, whom,
                       doubt_text(found, "parameters"));
  }
  if (!std::isfinite(found.size)) {
    return fmt::format("{} is not faster than {} at the largest size{}", who, whom,
                       doubt_text(found, "parameters"));
  }
  return fmt::format("{} is faster than {} from {} parameters", who, whom, to_text(found));
}

/// "1,234,567".
std::string with_separators(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) {
    text.insert(i - 3, ",");
  }
  return text;
}

/// Between which two sizes another row becomes the fastest, of those where one surely is.
std::string changes_of_fastest(const SizeStudy& study) {
  std::string text;
  const SizePoint* last = nullptr;
  std::string first;
  std::vector<std::int64_t> open;
  for (const SizePoint& point : study.points) {
    const Leader<RaceRow> found = fastest_row(point);
    if (!found.is_sure()) {
      if (found.best != nullptr) {
        open.push_back(point.size);
      }
      continue;
    }
    if (last != nullptr && found.best->name != first) {
      text += fmt::format("; {} is overtaken by {} between {} = {} and {} ({} to {} parameters)",
                          first, found.best->name, study.symbol, last->size, point.size,
                          with_separators(last->network.parameters()),
                          with_separators(point.network.parameters()));
    }
    last = &point;
    first = found.best->name;
  }
  return open.empty() ? text
                      : text + fmt::format("; which row is the fastest is uncertain at {} = {}",
                                           study.symbol, fmt::join(open, ", "));
}

/// Nearly nothing is to be computed in the smallest network, so what its step takes is the cost of
/// issuing the operations.
std::string dispatch_cost(const SizeStudy& study) {
  const SizePoint& smallest = study.points.front();
  const RaceRow* const peer = best_peer(smallest);
  const RaceRow* const engine = best_engine(smallest);
  if (peer == nullptr || engine == nullptr) {
    return "";
  }
  std::string text = fmt::format(
      "; at {} = {}, where a step is {} MFLOP, {} takes {} and {} takes {}", study.symbol,
      smallest.size, format_figure(smallest.network.flops_per_step(study.batch) / 1e6), peer->name,
      format_seconds(peer->step_seconds()), engine->name, format_seconds(engine->step_seconds()));
  const double issuing = peer->step_seconds() - engine->step_seconds();
  if (judge(ratio_in_run(peer->samples, engine->samples), smallest.race.least_effect) ==
      Verdict::slower) {
    const auto half =
        std::find_if(study.points.rbegin(), study.points.rend(), [&](const SizePoint& point) {
          const RaceRow* const row = best_peer(point);
          return row != nullptr && row->step_seconds() <= 2 * issuing;
        });
    text += fmt::format(": {} are its cost of issuing the operations one by one",
                        format_seconds(issuing));
    if (half != study.points.rend()) {
      text += fmt::format(", at least half of its step up to {} parameters",
                          half->network.parameters());
    }
  }
  return text;
}

std::string gpu_answer(const SizeStudy& study) {
  const auto best_on = [](DeviceKind device) {
    return [device](const SizePoint& point) {
      return fastest(point.race.rows, [&](const RaceRow& row) { return row.device == device; });
    };
  };
  const auto found = crossover(study, best_on(DeviceKind::cpu), best_on(DeviceKind::cuda));
  return found ? "; " + from_where("the GPU", "the best CPU row", *found)
               : "; whether a GPU wins anywhere is not measured: no row ran on one";
}

std::string sentence(const SizeStudy& study) {
  std::multiset<std::string> winners, sure; // of the engines, at each size
  for (const SizePoint& point : study.points) {
    const Leader<RaceRow> found = fastest_engine(point);
    if (found.best != nullptr) {
      winners.insert(found.best->engine);
    }
    if (found.is_sure()) {
      sure.insert(found.best->engine);
    }
  }
  if (winners.empty()) {
    return "No engine has both a verified result and a time.";
  }
  const std::string winner = *std::ranges::max_element(
      winners, {}, [&](const std::string& name) { return winners.count(name); });
  const auto own = [&](const SizePoint& point) { // with the threads that are best at this size
    return fastest(point.race.rows, [&](const RaceRow& row) { return row.engine == winner; });
  };
  const auto found = crossover(study, best_peer, own);
  std::set<std::string> engines;
  for (const SizePoint& point : study.points) {
    for (const RaceRow& row : point.race.rows) {
      if (!row.is_peer()) {
        engines.insert(row.engine);
      }
    }
  }
  return (found ? from_where(winner, "the best peer", *found)
          : engines.size() == 1
              ? fmt::format("{} ran alone, so no engine is the faster one", winner)
          : sure.count(winner) == 0
              ? std::string("which engine is the fastest is uncertain at every size")
          : winners.size() == 1 ? fmt::format("{} is the fastest of the engines", winner)
                                : fmt::format("{} is the fastest of the engines at {} of {} sizes",
                                              winner, sure.count(winner), winners.size())) +
         changes_of_fastest(study) + dispatch_cost(study) + gpu_answer(study) + ".";
}

} // namespace

LabReport size_report(const SizeStudy& study) {
  LabReport report;
  const std::vector<std::string> names = timed_rows(study);
  const auto seconds = [&](const RaceRow& row) { // of 100 epochs
    return static_cast<double>(study.steps) * row.step_seconds();
  };
  const auto extrapolated = [&](const RaceRow& row) {
    return row.samples.front().iterations != study.steps;
  };
  bool counted = false; // whether anybody was asked for the errors
  const std::string errors = row_table(study, names, "training errors, ", [&](const RaceRow& row) {
    counted = counted || row.train_errors;
    return as_text(row.train_errors);
  });
  report.text = fmt::format(
      "disc set, batches of {}; time of a training step, median of interleaved "
      "rounds\n\n{}{}\n{}\n{}"
      "100 epochs are {} steps; ~ is extrapolated from fewer that were timed\n{}",
      study.batch, step_table(study, names), proof_line(study),
      row_table(study, names, "spread, ", spread_of),
      row_table(study, names, "100 epochs, ",
                [&](const RaceRow& row) {
                  return (extrapolated(row) ? "~" : "") + format_seconds(seconds(row));
                }),
      study.steps, counted ? "\n" + errors : "");
  report.sentence = sentence(study);
  if (!study.left_out.empty()) {
    report.notes.push_back(study.left_out);
  }
  report.interrupted = study.interrupted;
  report.data = {{"batch", study.batch}, {"steps", study.steps}, {"points", Value::list()}};
  report.pictures = {{"Time of a training step, by parameters", Figure::lines, "parameters",
                      "seconds_per_step", "row", "xy", "points.rows"}};
  report.rows = Value::list();
  std::vector<Ending> endings;
  for (const SizePoint& point : study.points) {
    Value rows = Value::list();
    for (const RaceRow& row : point.race.rows) {
      Value json = row_json(row);
      json["seconds_100_epochs"] = row.ranked() ? Value(seconds(row)) : Value();
      json["extrapolated"] = row.ranked() ? Value(extrapolated(row)) : Value();
      Value line{{"size", point.size}, {"parameters", point.network.parameters()}};
      for (const char* key :
           {"row", "device", "status", "reason", "verified.ok", "seconds_per_step",
            "seconds_100_epochs", "extrapolated", "train_errors", "peak_bytes"}) {
        line[key] = json.find(key);
      }
      report.rows->push_back(std::move(line));
      rows.push_back(std::move(json));
      if (row.ranked()) {
        report.series.push_back(series_of(study.verb, point.network, row.name, row));
      }
    }
    report.data["points"].push_back({{"size", point.size},
                                     {"layers", point.network.widths()},
                                     {"parameters", point.network.parameters()},
                                     {"flops_per_step", point.network.flops_per_step(study.batch)},
                                     {"reference", point.race.reference},
                                     {"rows", std::move(rows)}});
    for (const std::string& line : troubles(point.race.rows)) {
      report.notes.push_back(fmt::format("{} = {}: {}", study.symbol, point.size, line));
    }
    std::ranges::copy(endings_of(point.race.rows), std::back_inserter(endings));
  }
  report.outcome = outcome_of(endings);
  return report;
}

} // namespace diffbench::bench
