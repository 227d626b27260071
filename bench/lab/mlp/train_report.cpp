#include "mlp/train_report.hpp"

#include "interrupt.hpp"
#include "mlp/train_ledger.hpp"
#include "output.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

std::string accuracy_percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string quality_table(std::span<const Trained> all) {
  TextTable table({"engine", "threads", "epochs", "time/epoch", "loss", "train errors",
                   "test errors", "test accuracy"});
  for (const Trained& trained : all) {
    if (trained.epochs.empty()) {
      continue;
    }
    table.add({trained.name(), std::to_string(trained.provenance.threads),
               std::to_string(trained.epochs.size()),
               trained.timed() ? format_seconds(trained.seconds_per_epoch()) : "emulated",
               format_figure(trained.epochs.back().loss), std::to_string(trained.train->errors),
               std::to_string(trained.test->errors), accuracy_percent(trained.test->accuracy)});
  }
  return table.format();
}

/// Of those that have times.
std::string ledgers_of(std::span<const Trained> all) {
  std::vector<TrainLedger> ledgers;
  for (const Trained& trained : all) {
    if (trained.timed()) {
      ledgers.push_back(ledger_of(trained.name(), trained.epochs));
    }
  }
  return ledgers.empty() ? "" : "\n" + ledger_table(ledgers);
}

TextTable::Cells scores_line(const std::string& name, const mlp::Scores& scores) {
  return {name, fmt::format("{:.3f}", scores.precision), fmt::format("{:.3f}", scores.recall),
          fmt::format("{:.3f}", scores.f1), std::to_string(scores.support)};
}

std::string classification_report(const Trained& trained) {
  TextTable table(
      {fmt::format("{}, test rows", trained.name()), "precision", "recall", "f1", "support"});
  for (std::size_t c = 0; c < trained.test->classes.size(); ++c) {
    table.add(scores_line(fmt::format("class {}", c), trained.test->classes[c]));
  }
  table.add(scores_line("macro average", trained.test->macro));
  table.add(scores_line("weighted average", trained.test->weighted));
  return table.format();
}

std::string speed_sentence(const std::vector<const Trained*>& done) {
  std::vector<const Trained*> timed;
  std::ranges::copy_if(done, std::back_inserter(timed), [](const Trained* trained) {
    return trained->timed() && !trained->prefetched; // notes speak of those
  });
  if (timed.empty()) {
    return "what is emulated has no times";
  }
  const auto [fast, slow] = std::ranges::minmax(timed, {}, &Trained::seconds_per_epoch);
  std::string text =
      fmt::format("{} takes {} an epoch", fast->name(), format_seconds(fast->seconds_per_epoch()));
  if (fast != slow) {
    text += fmt::format(", {} times as fast as {}",
                        format_figure(slow->seconds_per_epoch() / fast->seconds_per_epoch()),
                        slow->name());
  }
  return text;
}

std::string quality_sentence(const std::vector<const Trained*>& done) {
  const auto [fewest, most] =
      std::ranges::minmax(done, {}, [](const Trained* trained) { return trained->test->errors; });
  if (done.size() == 1) {
    return fmt::format("the network errs in {} of {} test rows.", fewest->test->errors,
                       fewest->test->macro.support);
  }
  return fewest->test->errors == most->test->errors
             ? fmt::format("all engines err in {} test rows, so the quality is the same.",
                           fewest->test->errors)
             : fmt::format("they err in {} to {} test rows: rounding lets trainings part.",
                           fewest->test->errors, most->test->errors);
}

std::string sentence(std::span<const Trained> all) {
  std::vector<const Trained*> done;
  for (const Trained& trained : all) {
    if (trained.failure.empty() && !trained.epochs.empty()) {
      done.push_back(&trained);
    }
  }
  if (done.empty()) {
    return "No engine came to the end, so there is nothing to compare.";
  }
  return speed_sentence(done) + "; " + quality_sentence(done);
}

ordered_json scores_json(const mlp::Scores& scores) {
  return {{"precision", number(scores.precision)},
          {"recall", number(scores.recall)},
          {"f1", number(scores.f1)},
          {"support", scores.support}};
}

ordered_json quality_json(const mlp::Quality& quality) {
  ordered_json classes = ordered_json::array();
  for (const mlp::Scores& scores : quality.classes) {
    classes.push_back(scores_json(scores));
  }
  return {{"errors", quality.errors},
          {"accuracy", number(quality.accuracy)},
          {"macro", scores_json(quality.macro)},
          {"weighted", scores_json(quality.weighted)},
          {"classes", std::move(classes)}};
}

ordered_json engine_json(const Trained& trained) {
  ordered_json provenance = {{"threads", trained.provenance.threads}};
  for (const auto& [name, value] : trained.provenance.details) {
    provenance[name] = value;
  }
  ordered_json losses = ordered_json::array();
  for (const mlp::Epoch& epoch : trained.epochs) {
    losses.push_back(number(epoch.loss));
  }
  const mlp::EpochTimes total = trained.total();
  return {
      {"engine", trained.engine.name},
      {"async", trained.prefetched},
      {"device", to_string(trained.engine.device)},
      {"status", trained.failure.empty() ? "ok" : "failed"},
      {"reason", trained.failure.empty() ? ordered_json(nullptr) : ordered_json(trained.failure)},
      {"provenance", std::move(provenance)},
      {"seconds_per_epoch",
       trained.timed() ? number(trained.seconds_per_epoch()) : ordered_json(nullptr)},
      {"phases", trained.timed() ? ordered_json{{"data", number(total.data)},
                                                {"step", number(total.step)},
                                                {"wait", number(total.wait)}}
                                 : ordered_json(nullptr)},
      {"ledger", trained.timed() ? ledger_json(ledger_of(trained.name(), trained.epochs))
                                 : ordered_json(nullptr)},
      {"losses", std::move(losses)},
      {"train", quality_json(*trained.train)},
      {"test", quality_json(*trained.test)}};
}

/// What --async changed, engine by engine: the rows of an engine stand one after the other.
std::vector<std::string> prefetch_notes(std::span<const Trained> all) {
  std::vector<std::string> notes;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Trained& in_turn = all[i - 1];
    const Trained& ahead = all[i];
    if (ahead.prefetched && in_turn.engine.name == ahead.engine.name && in_turn.timed() &&
        ahead.timed()) {
      notes.push_back(fmt::format(
          "{}: gathering the batches ahead makes an epoch {} times as fast (an epoch in turn "
          "spends "
          "{} on data)",
          ahead.engine.name, format_figure(in_turn.seconds_per_epoch() / ahead.seconds_per_epoch()),
          accuracy_percent(in_turn.total().data / ledger_of("", in_turn.epochs).wall)));
    }
  }
  return notes;
}

SampleSeries series_of(const TrainSetting& setting, const Trained& trained) {
  SampleSeries series{
      .name = fmt::format("mlp/train/{}/{}/{}", setting.data.train.name,
                          fmt::join(setting.training.network.widths(), "-"), trained.name()),
      .threads = trained.provenance.threads,
      .samples = {}};
  for (const mlp::Epoch& epoch : trained.epochs) {
    series.samples.push_back({.iterations = 1, .seconds = epoch.wall, .cpu_seconds = std::nullopt});
  }
  return series;
}

} // namespace

LabReport train_report(const TrainSetting& setting, std::span<const Trained> all) {
  LabReport report;
  const mlp::Network& network = setting.training.network;
  report.text = fmt::format(
      "{}: {} rows for training, {} for the test; network {} with {} parameters, batches of {}, "
      "{}, rate {}\n\n{}{}",
      setting.data.train.name, setting.data.train.rows(), setting.data.test.rows(),
      mlp::to_string(network), network.parameters(), setting.training.batch,
      setting.training.optimizer.kind == mlp::Optimizer::Kind::adam ? "adam" : "sgd",
      setting.training.optimizer.rate, quality_table(all), ledgers_of(all));
  report.data = {{"data", setting.data.train.name},       {"train_rows", setting.data.train.rows()},
                 {"test_rows", setting.data.test.rows()}, {"layers", network.widths()},
                 {"parameters", network.parameters()},    {"batch", setting.training.batch},
                 {"seed", setting.options.seed},          {"results", ordered_json::array()}};
  for (const Trained& trained : all) {
    report.data["results"].push_back(engine_json(trained));
    if (!trained.failure.empty()) {
      report.notes.push_back(fmt::format("{}: {}", trained.name(), trained.failure));
      report.outcome = {exit_error, "an engine did not come to the end, see above"};
    }
    if (trained.timed()) {
      report.series.push_back(series_of(setting, trained));
    }
  }
  if (!all.empty()) {
    report.text += "\n" + classification_report(all.back());
  }
  std::ranges::move(prefetch_notes(all), std::back_inserter(report.notes));
  report.sentence = sentence(all);
  report.interrupted = interrupted();
  return report;
}

} // namespace diffbench::bench
