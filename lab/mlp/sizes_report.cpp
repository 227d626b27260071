// SPDX-License-Identifier: Apache-2.0
// What `mlp depth` and `mlp width` say: the time of a step and of 100 epochs by size, who wins from
// where, and what issuing operations costs a peer.
#include "columns.hpp"
#include "sizes.hpp"
#include "small_nets.hpp"
#include "units.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

namespace {

/// Of one with a time.
double epochs_seconds(const SizeStudy& sizes, const TimedRow& row) {
  return static_cast<double>(sizes.steps) * row.step_seconds();
}
bool is_extrapolated(const SizeStudy& sizes, const TimedRow& row) {
  return row.samples.front().iterations != sizes.steps;
}

Study study_of(const SizeStudy& sizes) {
  Study study{.axes = {sizes.symbol}, .facts = {"parameters", "MFLOP/step"}};
  for (const SizePoint& point : sizes.points) {
    const std::int64_t parameters = point.network.parameters();
    const double flops = point.network.flops_per_step(sizes.batch);
    StudyPoint& own = study.points.emplace_back(
        StudyPoint{.values = {std::to_string(point.size)},
                   .sizes = {static_cast<double>(parameters)},
                   .facts = {std::to_string(parameters), format_figure(flops / 1e6)}});
    for (const RaceRow& row : point.race.rows) {
      own.rows.push_back(study_row(row, series_of(sizes.verb, point.network, row.name, row)));
      Value& json = own.rows.back().json;
      json["seconds_100_epochs"] = row.ranked() ? Value(epochs_seconds(sizes, row)) : Value();
      json["extrapolated"] = row.ranked() ? Value(is_extrapolated(sizes, row)) : Value();
      json["size"] = point.size;
      json["parameters"] = parameters;
    }
    study.least_effect = point.race.least_effect;
  }
  return study;
}

/// Nearly nothing is to be computed in the smallest network, so what its step takes is the cost of
/// issuing the operations.
std::string dispatch_cost(const Study& study, const Pick& best_engine, const Pick& best_peer) {
  const StudyPoint& smallest = study.points.front();
  const StudyRow* const peer = best_peer(smallest);
  const StudyRow* const engine = best_engine(smallest);
  if (peer == nullptr || engine == nullptr) {
    return "";
  }
  const double issuing = peer->step_seconds() - engine->step_seconds();
  return fmt::format("; at {} = {}, where a step is {} MFLOP, {} takes {} and {} takes {}{}",
                     study.axes.front(), smallest.values.front(), smallest.facts.back(), peer->name,
                     step_text(*peer), engine->name, step_text(*engine),
                     judge(study, *peer, *engine) == Verdict::slower
                         ? fmt::format(": {} are its cost of issuing the operations one by one",
                                       format_seconds(issuing))
                         : "");
}

std::string sentence(const Study& study) {
  const auto on = [](DeviceKind device) {
    return best_of([device](const StudyRow& row) { return row.device == device; });
  };
  const Pick peer = best_of([](const StudyRow& row) { return names_peer(row.name); });
  const Pick engine = best_of([](const StudyRow& row) { return !names_peer(row.name); });
  const auto wins = [&](std::string_view who, const Pick& challenger, std::string_view whom,
                        const Pick& champion) {
    const std::vector<Crossing> found = crossings(study, 0, champion, challenger);
    return found.empty()
               ? ""
               : "; " + crossing_text(who, whom, found.front().crossover, "size", "parameters");
  };
  const std::string gpu =
      wins("the GPU", on(DeviceKind::cuda), "the best CPU row", on(DeviceKind::cpu));
  return fastest_where(study) + wins("the best engine", engine, "the best peer", peer) +
         dispatch_cost(study, engine, peer) +
         (gpu.empty() ? "; whether a GPU wins anywhere is not measured: no row ran on one" : gpu) +
         ".";
}

} // namespace

LabReport size_report(const SizeStudy& sizes) {
  const Study study = study_of(sizes);
  const std::string rest =
      format_small_nets(sizes.points.front().race.rows) + pivot_of("spread", study, spread_text) +
      pivot_of("100 epochs", study,
               [&](const StudyRow& row) {
                 return (is_extrapolated(sizes, row) ? "~" : "") +
                        format_seconds(epochs_seconds(sizes, row));
               }) +
      fmt::format("100 epochs are {} steps; ~ is extrapolated from fewer that were timed\n",
                  sizes.steps) +
      (sizes.quality
           ? pivot_of("training errors", study,
                      [](const StudyRow& row) { return as_text(row.json.find("train_errors")); })
           : "");
  LabReport report = study_report(
      study,
      fmt::format(
          "disc set, batches of {}; time of a training step, median of interleaved rounds\n\n",
          sizes.batch),
      rest);
  report.columns = {};
  report.sentence = sentence(study);
  if (!sizes.left_out.empty()) {
    report.notes.push_back(sizes.left_out);
  }
  report.interrupted = sizes.interrupted;
  report.pictures = {{"Time of a training step, by parameters", Figure::lines, "parameters",
                      "seconds_per_step", "row", "xy", "points.rows"}};
  report.rows = report.data.find("results");
  Value points = Value::list();
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const SizePoint& point = sizes.points[i];
    points.push_back({{"size", point.size},
                      {"layers", point.network.widths()},
                      {"parameters", point.network.parameters()},
                      {"flops_per_step", point.network.flops_per_step(sizes.batch)},
                      {"reference", point.race.reference},
                      {"rows", Value::each(study.points[i].rows, &StudyRow::json)}});
  }
  report.data = {{"batch", sizes.batch}, {"steps", sizes.steps}, {"points", std::move(points)}};
  return report;
}

} // namespace diffbench::bench
