// What `mlp train` says: times, where they went, how right the networks are.
#include "train.hpp"

#include "columns.hpp"
#include "interrupt.hpp"
#include "report_json.hpp"
#include "train_ledger.hpp"
#include "training_job.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace diffbench::bench {

namespace {

std::string accuracy_percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string as_score(const Value& score) { return fmt::format("{:.3f}", score.number()); }

struct ScoresLine {
  std::string name;
  const mlp::Scores& scores;
};

constexpr Column<ScoresLine> score_columns[] = {
    {nullptr, "test rows", as_text, [](const ScoresLine& line) -> Value { return line.name; }},
    {"precision", "precision", as_score,
     [](const ScoresLine& line) -> Value { return line.scores.precision; }},
    {"recall", "recall", as_score,
     [](const ScoresLine& line) -> Value { return line.scores.recall; }},
    {"f1", "f1", as_score, [](const ScoresLine& line) -> Value { return line.scores.f1; }},
    {"support", "support", as_text,
     [](const ScoresLine& line) -> Value { return line.scores.support; }},
};

Value quality_json(const std::optional<mlp::Quality>& of_rows) {
  if (!of_rows) {
    return {};
  }
  const mlp::Quality& quality = *of_rows;
  const auto scores_json = [](const mlp::Scores& scores) {
    return object_of(score_columns, {{}, scores});
  };
  Value classes = Value::list();
  for (const mlp::Scores& scores : quality.classes) {
    classes.push_back(scores_json(scores));
  }
  return {{"errors", quality.errors},
          {"accuracy", quality.accuracy},
          {"macro", scores_json(quality.macro)},
          {"weighted", scores_json(quality.weighted)},
          {"classes", std::move(classes)}};
}

std::string errors_text(const std::optional<mlp::Quality>& quality) {
  return quality ? std::to_string(quality->errors) : "-";
}

std::string classification_report(const Trained& trained) {
  TextTable table = table_of(score_columns);
  table.rename(0, trained.name() + ", test rows");
  for (std::size_t c = 0; c < trained.test->classes.size(); ++c) {
    add_row(table, score_columns, {fmt::format("class {}", c), trained.test->classes[c]});
  }
  add_row(table, score_columns, {"macro average", trained.test->macro});
  add_row(table, score_columns, {"weighted average", trained.test->weighted});
  return table.format();
}

Value engine_json(const Trained& trained) {
  Value losses = Value::list();
  for (const mlp::Epoch& epoch : trained.epochs) {
    if (!trained.is_peer()) {
      losses.push_back(epoch.loss);
    }
  }
  const bool timed = trained.timed();
  const bool accounted = timed && !trained.is_peer();
  const mlp::EpochTimes total = trained.total();
  return {
      {"engine", trained.engine},
      {"async", trained.prefetched},
      {"device", to_string(trained.device)},
      {"status", trained.failure.empty() ? "ok" : "failed"},
      {"reason", trained.failure.empty() ? Value() : Value(trained.failure)},
      {"provenance", provenance_json(trained.provenance)},
      {"seconds_per_epoch", timed ? Value(trained.seconds_per_epoch()) : Value()},
      {"phases", accounted ? Value{{"data", total.data}, {"step", total.step}, {"wait", total.wait}}
                           : Value()},
      {"ledger", accounted ? ledger_json(ledger_of(trained.name(), trained.epochs)) : Value()},
      {"losses", std::move(losses)},
      {"train", quality_json(trained.train)},
      {"test", quality_json(trained.test)}};
}

std::string speed_sentence(const std::vector<const Trained*>& done) {
  std::vector<const Trained*> timed;
  std::ranges::copy_if(done, std::back_inserter(timed), [](const Trained* trained) {
    return trained->timed() && !trained->prefetched; // notes speak of those
  });
  if (timed.empty()) {
    return "an emulated engine has no times";
  }
  const auto [fast, slow] = std::ranges::minmax(timed, {}, &Trained::seconds_per_epoch);
  return fmt::format("{} takes {} an epoch", fast->name(),
                     format_seconds(fast->seconds_per_epoch())) +
         (fast == slow ? ""
                       : ", " + format_pace(slow->seconds_per_epoch() / fast->seconds_per_epoch(),
                                            slow->name()));
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
    if (trained.failure.empty() && !trained.epochs.empty() && trained.test) {
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
      notes.push_back(fmt::format(
          "{}: with its batches gathered ahead an epoch is {} (which spends {} on data)",
          ahead.engine,
          format_pace(in_turn.seconds_per_epoch() / ahead.seconds_per_epoch(), "in turn"),
          accuracy_percent(in_turn.total().data / ledger_of("", in_turn.epochs).wall)));
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

LabReport train_report(const TrainSetting& setting, std::span<const Trained> all) {
  LabReport report;
  const mlp::Network& network = setting.training.network;
  report.data = {{"data", setting.data.train.name},       {"train_rows", setting.data.train.rows()},
                 {"test_rows", setting.data.test.rows()}, {"layers", network.widths()},
                 {"parameters", network.parameters()},    {"batch", setting.training.batch},
                 {"seed", setting.options.seed},          {"results", Value::list()}};
  TextTable table({"engine", "threads", "epochs", "time/epoch", "spread", "loss", "train errors",
                   "test errors", "test accuracy"});
  std::vector<TrainLedger> ledgers;
  for (const Trained& trained : all) {
    report.data["results"].push_back(engine_json(trained));
    if (!trained.epochs.empty()) {
      table.add({trained.name(), std::to_string(trained.provenance.threads),
                 std::to_string(trained.epochs.size()),
                 trained.timed() ? format_seconds(trained.seconds_per_epoch()) : "emulated",
                 trained.timed() && trained.epochs.size() > 1
                     ? as_spread(trained.epoch_quartiles().relative_spread())
                     : no_value,
                 trained.is_peer() ? no_value : format_figure(trained.epochs.back().loss),
                 errors_text(trained.train), errors_text(trained.test),
                 trained.test ? accuracy_percent(trained.test->accuracy) : "-"});
    }
    if (!trained.failure.empty()) {
      report.notes.push_back(fmt::format("{}: {}", trained.name(), trained.failure));
      if (report.outcome.exit_code != exit_not_verified) {
        report.outcome = {exit_error, "an engine did not finish, see above"};
      }
    }
    if (trained.wrong()) {
      report.outcome = {exit_not_verified, trained.name() + " is wrong, see above"};
    }
    if (trained.timed()) {
      if (!trained.is_peer()) {
        ledgers.push_back(ledger_of(trained.name(), trained.epochs));
      }
      SampleSeries& series = report.series.emplace_back();
      series.name = series_name("train/" + setting.data.train.name, network, trained.name());
      series.threads = trained.provenance.threads;
      for (const mlp::Epoch& epoch : trained.epochs) {
        series.samples.push_back({.iterations = 1, .seconds = epoch.wall, .cpu_seconds = {}});
      }
    }
  }
  report.text = fmt::format(
      "{}: {} rows for training, {} for the test; network {} with {} parameters, batches of {}, "
      "{}, rate {}\n\n{}{}",
      setting.data.train.name, setting.data.train.rows(), setting.data.test.rows(),
      mlp::to_string(network), network.parameters(), setting.training.batch,
      setting.training.optimizer.kind == mlp::Optimizer::Kind::adam ? "adam" : "sgd",
      setting.training.optimizer.rate, table.format(),
      ledgers.empty() ? "" : "\n" + ledger_table(ledgers));
  for (const Trained* trained : judged_apart(all)) {
    report.text += "\n" + classification_report(*trained);
  }
  std::ranges::move(prefetch_notes(all), std::back_inserter(report.findings));
  report.sentence = sentence(all);
  report.interrupted = interrupted();
  return report;
}

} // namespace diffbench::bench
