// What `mlp depth` and `mlp width` say: the time of a step and of 100 epochs by size, who wins from
// where, and what issuing operations costs a peer.
#include "crossover.hpp"
#include "mlp/sizes.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// Of one racer, the row whose number of threads is best at this size.
const RaceRow* best_of(const SizePoint& point, const std::string& racer) {
  return fastest(point.race.rows, [&](const RaceRow& row) { return row.racer == racer; });
}
const RaceRow* best_peer(const SizePoint& point) {
  return fastest(point.race.rows, [](const RaceRow& row) { return row.is_peer(); });
}
const RaceRow* best_engine(const SizePoint& point) {
  return fastest(point.race.rows, [](const RaceRow& row) { return !row.is_peer(); });
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

const RaceRow* find_row(const SizePoint& point, const std::string& name) {
  const auto row = std::ranges::find(point.race.rows, name, &RaceRow::name);
  return row != point.race.rows.end() && row->ranked() ? &*row : nullptr;
}

std::string format_parameters(const SizePoint& point) {
  return std::to_string(point.network.parameters());
}

bool all_verified(const SizePoint& point) {
  return std::ranges::all_of(point.race.rows, [](const RaceRow& row) {
    return row.is_roof || row.status != Status::ok || (row.check && row.check->ok());
  });
}

std::string step_table(const SizeStudy& study, const std::vector<std::string>& names) {
  TextTable::Cells header{study.symbol, "parameters", "MFLOP/step"};
  header.insert(header.end(), names.begin(), names.end());
  header.insert(header.end(), {"fastest", "against peer", "verified"});
  TextTable table(header);
  for (const SizePoint& point : study.points) {
    TextTable::Cells cells{std::to_string(point.size), format_parameters(point),
                           format_figure(point.network.flops_per_step(study.batch) / 1e6)};
    for (const std::string& name : names) {
      const RaceRow* const row = find_row(point, name);
      cells.push_back(row != nullptr ? format_seconds(row->step_seconds()) : no_value);
    }
    const RaceRow* const engine = best_engine(point);
    const RaceRow* const peer = best_peer(point);
    const RaceRow* const best =
        fastest(point.race.rows, [](const RaceRow& /*row*/) { return true; });
    cells.push_back(best != nullptr ? best->name : no_value);
    cells.push_back(engine != nullptr && peer != nullptr
                        ? format_figure(peer->step_seconds() / engine->step_seconds()) + "x"
                        : no_value);
    cells.push_back(all_verified(point) ? "yes" : "NO");
    table.add(std::move(cells));
  }
  return table.format();
}

/// Whether a sample held all steps of the epochs.
bool measured_whole(const SizeStudy& study, const RaceRow& row) {
  return row.samples.front().iterations == study.steps;
}

std::string epoch_table(const SizeStudy& study, const std::vector<std::string>& names) {
  TextTable::Cells header{"100 epochs, " + study.symbol};
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(header);
  for (const SizePoint& point : study.points) {
    TextTable::Cells cells{std::to_string(point.size)};
    for (const std::string& name : names) {
      const RaceRow* const row = find_row(point, name);
      cells.push_back(row == nullptr ? no_value
                                     : (measured_whole(study, *row) ? "" : "~") +
                                           format_seconds(static_cast<double>(study.steps) *
                                                          row->step_seconds()));
    }
    table.add(std::move(cells));
  }
  return table.format();
}

/// Empty where nobody was asked for the errors.
std::string quality_table(const SizeStudy& study, const std::vector<std::string>& names) {
  TextTable::Cells header{"training errors, " + study.symbol};
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(header);
  bool any = false;
  for (const SizePoint& point : study.points) {
    TextTable::Cells cells{std::to_string(point.size)};
    for (const std::string& name : names) {
      const RaceRow* const row = find_row(point, name);
      const bool counted = row != nullptr && row->train_errors;
      any = any || counted;
      cells.push_back(counted ? std::to_string(*row->train_errors) : no_value);
    }
    table.add(std::move(cells));
  }
  return any ? "\n" + table.format() : "";
}

/// From how many parameters `challenger` wins against `champion`, each at its best.
template <typename Champion, typename Challenger>
std::optional<Crossover> crossover(const SizeStudy& study, Champion champion,
                                   Challenger challenger) {
  std::vector<Contest> contests;
  for (const SizePoint& point : study.points) {
    const RaceRow* const old = champion(point);
    const RaceRow* const other = challenger(point);
    if (old != nullptr && other != nullptr) {
      contests.push_back({.size = static_cast<double>(point.network.parameters()),
                          .champion = iteration_seconds(old->samples),
                          .challenger = iteration_seconds(other->samples)});
    }
  }
  return find_crossover(contests);
}

std::string from_where(const std::string& who, const std::string& whom, const Crossover& found) {
  const std::string text = to_text(found);
  if (text == "everywhere") {
    return fmt::format("{} is faster than {} at every size", who, whom);
  }
  if (text == "nowhere") {
    return fmt::format("{} is not faster than {} at the largest size", who, whom);
  }
  return fmt::format("{} is faster than {} from {} parameters", who, whom, text);
}

/// The fastest of our engines at each size where one has a time.
std::multiset<std::string> winners_of(const SizeStudy& study) {
  std::multiset<std::string> winners;
  for (const SizePoint& point : study.points) {
    if (const RaceRow* const row = best_engine(point)) {
      winners.insert(row->racer);
    }
  }
  return winners;
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
  if (issuing > 0) {
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
  const auto on_gpu = [](const SizePoint& point) {
    return fastest(point.race.rows, [](const RaceRow& row) { return row.device == "cuda"; });
  };
  const auto on_cpu = [](const SizePoint& point) {
    return fastest(point.race.rows, [](const RaceRow& row) { return row.device == "cpu"; });
  };
  const auto found = crossover(study, on_cpu, on_gpu);
  return found ? "; " + from_where("the GPU", "the best CPU row", *found)
               : "; whether a GPU wins anywhere is not measured: no row ran on one";
}

std::string sentence(const SizeStudy& study) {
  const std::multiset<std::string> winners = winners_of(study);
  if (winners.empty()) {
    return "No engine has both a verified result and a time.";
  }
  const std::string winner = *std::ranges::max_element(
      winners, {}, [&](const std::string& name) { return winners.count(name); });
  const auto own = [&](const SizePoint& point) { return best_of(point, winner); };
  const auto found = crossover(study, best_peer, own);
  return (found ? from_where(winner, "the best peer", *found)
                : fmt::format("{} is the fastest of the engines at {} of {} sizes", winner,
                              winners.count(winner), winners.size())) +
         dispatch_cost(study) + gpu_answer(study) + ".";
}

ordered_json point_json(const SizeStudy& study, const SizePoint& point) {
  ordered_json rows = ordered_json::array();
  for (const RaceRow& row : point.race.rows) {
    ordered_json json = row_json(row);
    json["seconds_100_epochs"] = row.ranked()
                                     ? number(static_cast<double>(study.steps) * row.step_seconds())
                                     : ordered_json(nullptr);
    json["extrapolated"] =
        row.ranked() ? ordered_json(!measured_whole(study, row)) : ordered_json(nullptr);
    rows.push_back(std::move(json));
  }
  return {{"size", point.size},
          {"layers", point.network.widths()},
          {"parameters", point.network.parameters()},
          {"flops_per_step", number(point.network.flops_per_step(study.batch))},
          {"reference", point.race.reference},
          {"rows", std::move(rows)}};
}

} // namespace

LabReport size_report(const SizeStudy& study) {
  LabReport report;
  const std::vector<std::string> names = timed_rows(study);
  report.text = fmt::format(
      "disc set, batches of {}; time of a training step, median of interleaved rounds\n\n{}\n{}"
      "100 epochs are {} steps; ~ is extrapolated from fewer that were timed\n{}",
      study.batch, step_table(study, names), epoch_table(study, names), study.steps,
      quality_table(study, names));
  report.sentence = sentence(study);
  report.interrupted = study.interrupted;
  report.data = {{"batch", study.batch}, {"steps", study.steps}, {"points", ordered_json::array()}};
  for (const SizePoint& point : study.points) {
    report.data["points"].push_back(point_json(study, point));
    for (const std::string& line : troubles(point.race.rows)) {
      report.notes.push_back(fmt::format("{} = {}: {}", study.symbol, point.size, line));
    }
    for (const RaceRow& row : point.race.rows) {
      if (row.ranked()) {
        report.series.push_back({.name = series_name(study.verb, point.network, row.name),
                                 .threads = row.provenance.threads,
                                 .samples = row.samples});
      }
    }
    const Outcome outcome = outcome_of(point.race.rows);
    if (report.outcome.exit_code != exit_not_verified && outcome.exit_code != exit_ok) {
      report.outcome = outcome;
    }
  }
  return report;
}

} // namespace diffbench::bench
