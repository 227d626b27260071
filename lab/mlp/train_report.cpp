// SPDX-License-Identifier: Apache-2.0
// What `mlp train` says: times, where they went, how right the networks are.
#include "train.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "diffbench/text.hpp"
#include "interrupt.hpp"
#include "report_json.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace diffbench::bench {

namespace {

/// In the order in which a step goes through them.
constexpr std::array<std::pair<const char*, double mlp::StepTimes::*>, 7> named_parts{
    {{"data", &mlp::StepTimes::data},
     {"h2d", &mlp::StepTimes::h2d},
     {"launch", &mlp::StepTimes::launch},
     {"forward", &mlp::StepTimes::forward},
     {"backward", &mlp::StepTimes::backward},
     {"update", &mlp::StepTimes::update},
     {"sync", &mlp::StepTimes::sync}}};

void add(mlp::StepTimes& sum, const mlp::StepTimes& times) {
  for (const auto& [name, part] : named_parts) {
    sum.*part += times.*part;
  }
}

double sum_of(const mlp::StepTimes& times) {
  double sum = 0;
  for (const auto& [name, part] : named_parts) {
    sum += times.*part;
  }
  return sum;
}

std::string accuracy_percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string as_score(const Value& score) { return fmt::format("{:.3f}", score.number()); }

struct ScoresLine {
  std::string name;
  mlp::Scores scores;
};

constexpr Column<ScoresLine> score_columns[] = {
    {nullptr, "test rows", as_text, field<&ScoresLine::name>},
    {"precision", "precision", as_score, field<&ScoresLine::scores, &mlp::Scores::precision>},
    {"recall", "recall", as_score, field<&ScoresLine::scores, &mlp::Scores::recall>},
    {"f1", "f1", as_score, field<&ScoresLine::scores, &mlp::Scores::f1>},
    {"support", "support", as_text, field<&ScoresLine::scores, &mlp::Scores::support>},
};

Value quality_json(const std::optional<mlp::Quality>& of_rows) {
  if (!of_rows) {
    return {};
  }
  const mlp::Quality& quality = *of_rows;
  const auto scores_json = [](const mlp::Scores& scores) {
    return object_of(score_columns, {{}, scores});
  };
  return {{"errors", quality.errors},
          {"accuracy", quality.accuracy},
          {"macro", scores_json(quality.macro)},
          {"weighted", scores_json(quality.weighted)},
          {"classes", Value::each(quality.classes, scores_json)}};
}

std::string errors_text(const std::optional<mlp::Quality>& quality) {
  return quality ? std::to_string(quality->errors) : "-";
}

std::string classification_report(const Trained& trained) {
  TextTable table = table_of(score_columns);
  table.rename(0, trained.name + ", test rows");
  for (std::size_t c = 0; c < trained.test->classes.size(); ++c) {
    add_row(table, score_columns, {fmt::format("class {}", c), trained.test->classes[c]});
  }
  add_row(table, score_columns, {"macro average", trained.test->macro});
  add_row(table, score_columns, {"weighted average", trained.test->weighted});
  return table.format();
}

Value engine_json(const Trained& trained) {
  Value losses = Value::list();
  mlp::EpochTimes total;
  for (const mlp::Epoch& epoch : trained.epochs) {
    if (!trained.is_peer()) {
      losses.push_back(epoch.loss);
    }
    total.data += epoch.times.data;
    total.step += epoch.times.step;
    total.wait += epoch.times.wait;
  }
  const bool accounted = trained.timed() && !trained.is_peer();
  return {
      {"engine", trained.engine},
      {"async", trained.prefetched},
      {"device", trained.device},
      {"status", trained.status},
      {"reason", or_null(trained.reason)},
      {"provenance", provenance_json(trained.provenance)},
      {"verified",
       trained.small_nets ? Value{{"small_nets", small_nets_json(trained.small_nets)}} : Value()},
      {"seconds_per_epoch", trained.timed() ? Value(trained.step_seconds()) : Value()},
      {"phases", accounted ? Value{{"data", total.data}, {"step", total.step}, {"wait", total.wait}}
                           : Value()},
      {"ledger", accounted ? ledger_json(ledger_of(trained.name, trained.epochs)) : Value()},
      {"losses", std::move(losses)},
      {"train", quality_json(trained.train)},
      {"test", quality_json(trained.test)}};
}

/// They were trained one after another.
Ratio epoch_ratio(const Trained& trained, const Trained& other) {
  return ratio_apart(trained.samples, other.samples);
}

std::string speed_sentence(const std::vector<const Trained*>& done) {
  std::vector<const Trained*> timed;
  std::ranges::copy_if(done, std::back_inserter(timed), [](const Trained* trained) {
    return trained->timed() && !trained->prefetched; // notes speak of those
  });
  if (timed.empty()) {
    return "an emulated engine has no times";
  }
  const auto [fast, slow] = std::ranges::minmax(timed, {}, &Trained::step_seconds);
  const std::string text =
      fmt::format("{} takes {} an epoch", fast->name, format_seconds(fast->step_seconds()));
  if (fast == slow) {
    return text;
  }
  const Ratio ratio = epoch_ratio(*slow, *fast);
  return text + (judge(ratio, least_effect_in_run) == Verdict::slower
                     ? ", " + format_pace(ratio.value, slow->name)
                     : order_doubt(ratio, slow->name));
}

std::string quality_sentence(const std::vector<const Trained*>& done) {
  const auto [fewest, most] =
      std::ranges::minmax(done, {}, [](const Trained* trained) { return trained->test->errors; });
  if (done.size() == 1) {
    return fmt::format("the network misclassifies {} of {} test rows.", fewest->test->errors,
                       fewest->test->macro.support);
  }
  return fewest->test->errors == most->test->errors
             ? fmt::format("all misclassify {} test rows, so the quality is the same.",
                           fewest->test->errors)
             : fmt::format(
                   "they misclassify {} to {} test rows: different rounding makes the "
                   "trainings diverge.",
                   fewest->test->errors, most->test->errors);
}

std::string sentence(std::span<const Trained> all) {
  std::vector<const Trained*> done;
  for (const Trained& trained : all) {
    if (trained.status == Status::ok && !trained.epochs.empty() && trained.test) {
      done.push_back(&trained);
    }
  }
  if (done.empty()) {
    return "No engine finished, so there is nothing to compare.";
  }
  return speed_sentence(done) + "; " + quality_sentence(done);
}

/// What --async changed, engine by engine: the rows of an engine stand one after the other.
std::vector<std::string> prefetch_notes(std::span<const Trained> all) {
  std::vector<std::string> notes;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Trained& in_turn = all[i - 1];
    const Trained& ahead = all[i];
    if (ahead.prefetched && in_turn.engine == ahead.engine && in_turn.timed() && ahead.timed()) {
      const TrainLedger ledger = ledger_of("", in_turn.epochs);
      const Ratio gain = epoch_ratio(in_turn, ahead);
      notes.push_back(fmt::format(
          "{}: with its batches gathered ahead an epoch is {} in turn (which spends {} on data)",
          ahead.engine,
          !is_difference(judge(gain, least_effect_in_run))
              ? "not shown to be faster or slower than"
              : format_pace(gain.value) + (gain.value < 1 ? " than" : " as"),
          accuracy_percent(ledger.parts.data / ledger.wall)));
    }
  }
  return notes;
}

/// The last engine, and the last peer beside it.
std::vector<const Trained*> judged_apart(std::span<const Trained> all) {
  std::vector<const Trained*> chosen;
  for (const bool peer : {false, true}) {
    const auto last = std::find_if(all.rbegin(), all.rend(), [&](const Trained& trained) {
      return trained.is_peer() == peer && trained.test;
    });
    if (last != all.rend()) {
      chosen.push_back(&*last);
    }
  }
  return chosen;
}

} // namespace

TrainLedger ledger_of(std::string engine, std::span<const mlp::Epoch> epochs) {
  TrainLedger ledger{.engine = std::move(engine), .parts = {}, .device = {}};
  mlp::StepTimes device;
  for (const mlp::Epoch& epoch : epochs) {
    ledger.wall += epoch.wall;
    ledger.parts.data += epoch.times.data;
    if (epoch.engine) {
      add(ledger.parts, epoch.engine->host);
      add(device, epoch.engine->device);
    }
  }
  ledger.unexplained = ledger.wall - sum_of(ledger.parts);
  if (sum_of(device) > 0) {
    ledger.device = device;
  }
  return ledger;
}

std::string ledger_table(std::span<const TrainLedger> ledgers) {
  TextTable::Cells header{"where the time went"};
  for (const auto& [name, part] : named_parts) {
    header.emplace_back(name);
  }
  header.insert(header.end(), {"unexplained", "wall"});
  TextTable table(header);
  std::vector<std::string> fused;
  for (const TrainLedger& ledger : ledgers) {
    const auto share = [&](double seconds) {
      return seconds == 0 ? "-" : fmt::format("{:.1f} %", 100 * seconds / ledger.wall);
    };
    TextTable::Cells cells{ledger.engine};
    for (const auto& [name, part] : named_parts) {
      cells.push_back(share(ledger.parts.*part));
    }
    cells.push_back(share(ledger.unexplained));
    cells.push_back(format_seconds(ledger.wall));
    table.add(std::move(cells));
    if (ledger.parts.backward > 0 && ledger.parts.update == 0) {
      fused.push_back(ledger.engine);
    }
  }
  return table.format() + (fused.empty() ? ""
                                         : fmt::format("The update is within backward: {}.\n",
                                                       fmt::join(fused, ", ")));
}

Value ledger_json(const TrainLedger& ledger) {
  const auto parts_json = [](const mlp::StepTimes& times) {
    Value json;
    for (const auto& [name, part] : named_parts) {
      json[name] = times.*part;
    }
    return json;
  };
  Value json = parts_json(ledger.parts);
  json["unexplained"] = ledger.unexplained;
  json["wall"] = ledger.wall;
  json["device"] = ledger.device ? parts_json(*ledger.device) : Value();
  return json;
}

LabReport train_report(const TrainSetting& setting, std::span<const Trained> all) {
  LabReport report;
  const mlp::Network& network = setting.training.network;
  report.data = {{"data", setting.data.train.name},       {"train_rows", setting.data.train.rows()},
                 {"test_rows", setting.data.test.rows()}, {"layers", network.widths()},
                 {"parameters", network.parameters()},    {"batch", setting.training.batch},
                 {"seed", setting.options.seed},          {"results", Value::list()}};
  report.pictures = {{"Learning curves", Figure::lines, "epoch", "losses", "engine async", "y"},
                     {"Time of an epoch", Figure::bars, "engine", "seconds_per_epoch"},
                     {"Where the time of the training goes", Figure::stack, "engine", "phases"}};
  std::vector<NamedProof> proofs;
  TextTable table({"engine", "threads", "epochs", "time/epoch", "spread", "loss", "train errors",
                   "test errors", "test accuracy"});
  std::vector<TrainLedger> ledgers;
  for (const Trained& trained : all) {
    report.data["results"].push_back(engine_json(trained));
    if (!trained.epochs.empty()) {
      proofs.emplace_back(trained.name, trained.small_nets);
      table.add({trained.name, std::to_string(trained.provenance.threads),
                 std::to_string(trained.epochs.size()),
                 trained.timed() ? format_seconds(trained.step_seconds()) : "emulated",
                 as_spread(relative_spread(trained.samples)),
                 trained.is_peer() ? no_value : format_figure(trained.epochs.back().loss),
                 errors_text(trained.train), errors_text(trained.test),
                 trained.test ? accuracy_percent(trained.test->accuracy) : "-"});
    }
    if (trained.failed()) {
      report.notes.push_back(fmt::format("{}: {}", trained.name, trained.reason));
    }
    if (trained.timed()) {
      if (!trained.is_peer()) {
        ledgers.push_back(ledger_of(trained.name, trained.epochs));
      }
      report.series.push_back(
          series_of("train/" + setting.data.train.name, network, trained.name, trained));
    }
  }
  report.text = fmt::format(
      "{}: {} rows for training, {} for the test; network {} with {} parameters, batches of {}, "
      "{}, rate {}\n\n{}{}{}",
      setting.data.train.name, setting.data.train.rows(), setting.data.test.rows(),
      mlp::to_string(network), network.parameters(), setting.training.batch,
      setting.training.optimizer.kind == mlp::Optimizer::Kind::adam ? "adam" : "sgd",
      setting.training.optimizer.rate, table.format(),
      format_small_nets(std::span<const NamedProof>(proofs)),
      ledgers.empty() ? "" : "\n" + ledger_table(ledgers));
  for (const Trained* trained : judged_apart(all)) {
    report.text += "\n" + classification_report(*trained);
  }
  std::ranges::move(prefetch_notes(all), std::back_inserter(report.findings));
  report.sentence = sentence(all);
  report.interrupted = interrupted();
  report.outcome = outcome_of(endings_of(all));
  return report;
}

} // namespace diffbench::bench
