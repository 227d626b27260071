#include "mlp/train.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/safetensors.hpp"
#include "diffbench/mlp/training.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "mlp/options.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

/// What one engine made of it.
struct Trained {
  mlp::EngineInfo engine;
  Provenance provenance;
  std::string failure; ///< why it did not come to an end
  std::vector<mlp::Epoch> epochs;
  std::vector<float> parameters; ///< after the last epoch that was right
  std::optional<mlp::Quality> train, test;

  /// What is emulated has results, and no times.
  [[nodiscard]] bool timed() const {
    return engine.device != DeviceKind::emulated && !epochs.empty();
  }
  [[nodiscard]] double seconds_per_epoch() const {
    std::vector<double> seconds;
    for (const mlp::Epoch& epoch : epochs) {
      seconds.push_back(epoch.times.data + epoch.times.step + epoch.times.wait);
    }
    return quartiles(std::move(seconds)).median;
  }
  [[nodiscard]] mlp::EpochTimes total() const {
    mlp::EpochTimes sum;
    for (const mlp::Epoch& epoch : epochs) {
      sum.data += epoch.times.data;
      sum.step += epoch.times.step;
      sum.wait += epoch.times.wait;
    }
    return sum;
  }
};

struct Setting {
  MlpOptions options;
  mlp::Split data;
  mlp::Training training;
  std::vector<float> start;
};

mlp::Network default_network(const mlp::DataSet& data) {
  if (data.name == "disc") {
    return mlp::doubling_network(32);
  }
  return mlp::Network({data.features, 128, data.classes});
}

/// Everything that can be refused is refused here.
Setting prepare(MlpOptions options) {
  if (!options.save.empty()) {
    check_writable_file("--save", options.save);
  }
  mlp::Split data = load_data(options);
  std::vector<float> start;
  if (!options.model.empty()) {
    mlp::Model model = mlp::read_safetensors(options.model);
    options.network = std::move(model.network);
    start = std::move(model.parameters);
  }
  mlp::Training training{.network = options.network.value_or(default_network(data.train)),
                         .optimizer = options.optimizer,
                         .batch = options.batch};
  mlp::check_fits(training, data.train);
  if (start.empty()) {
    start.resize(static_cast<std::size_t>(training.network.parameters()));
    mlp::initialize<float>(training.network, options.seed, start);
  }
  return {.options = std::move(options),
          .data = std::move(data),
          .training = std::move(training),
          .start = std::move(start)};
}

Trained run_engine(const Setting& setting, const mlp::EngineInfo& info, Progress& progress) {
  Trained trained{.engine = info,
                  .provenance = {},
                  .failure = {},
                  .epochs = {},
                  .parameters = setting.start,
                  .train = {},
                  .test = {}};
  const auto engine = info.make<float>()(setting.training, setting.options.session);
  progress.stage(fmt::format("training with {}", info.name));
  try {
    mlp::train(*engine, setting.training, setting.data.train,
               {.epochs = setting.options.epochs, .seed = setting.options.seed}, trained.parameters,
               [&](const mlp::Epoch& epoch) {
                 trained.epochs.push_back(epoch);
                 progress.update(static_cast<double>(epoch.number) /
                                 static_cast<double>(setting.options.epochs));
                 return !interrupted();
               });
  } catch (const Error& error) {
    trained.failure = error.what();
    engine->set_parameters(trained.parameters);
  }
  trained.provenance = engine->provenance();
  trained.train = mlp::quality_on(*engine, setting.training.network, setting.data.train);
  trained.test = mlp::quality_on(*engine, setting.training.network, setting.data.test);
  return trained;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string times_table(const std::vector<Trained>& all) {
  TextTable table({"engine", "threads", "epochs", "time/epoch", "data", "steps", "wait", "loss",
                   "train errors", "test errors", "test accuracy"});
  for (const Trained& trained : all) {
    if (trained.epochs.empty()) {
      continue;
    }
    const mlp::EpochTimes total = trained.total();
    const double sum = total.data + total.step + total.wait;
    const auto share = [&](double part) { return trained.timed() ? percent(part / sum) : "-"; };
    table.add({std::string(trained.engine.name), std::to_string(trained.provenance.threads),
               std::to_string(trained.epochs.size()),
               trained.timed() ? format_seconds(trained.seconds_per_epoch()) : "emulated",
               share(total.data), share(total.step), share(total.wait),
               format_figure(trained.epochs.back().loss), std::to_string(trained.train->errors),
               std::to_string(trained.test->errors), percent(trained.test->accuracy)});
  }
  return table.format();
}

TextTable::Cells scores_line(const std::string& name, const mlp::Scores& scores) {
  return {name, fmt::format("{:.3f}", scores.precision), fmt::format("{:.3f}", scores.recall),
          fmt::format("{:.3f}", scores.f1), std::to_string(scores.support)};
}

std::string classification_report(const Trained& trained) {
  TextTable table(
      {fmt::format("{}, test rows", trained.engine.name), "precision", "recall", "f1", "support"});
  for (std::size_t c = 0; c < trained.test->classes.size(); ++c) {
    table.add(scores_line(fmt::format("class {}", c), trained.test->classes[c]));
  }
  table.add(scores_line("macro average", trained.test->macro));
  table.add(scores_line("weighted average", trained.test->weighted));
  return table.format();
}

std::string speed_sentence(const std::vector<const Trained*>& done) {
  std::vector<const Trained*> timed;
  std::ranges::copy_if(done, std::back_inserter(timed), &Trained::timed);
  if (timed.empty()) {
    return "what is emulated has no times";
  }
  const auto [fast, slow] = std::ranges::minmax(timed, {}, &Trained::seconds_per_epoch);
  std::string text = fmt::format("{} takes {} an epoch", fast->engine.name,
                                 format_seconds(fast->seconds_per_epoch()));
  if (fast != slow) {
    text += fmt::format(", {} times as fast as {}",
                        format_figure(slow->seconds_per_epoch() / fast->seconds_per_epoch()),
                        slow->engine.name);
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

std::string sentence(const std::vector<Trained>& all) {
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
      {"losses", std::move(losses)},
      {"train", quality_json(*trained.train)},
      {"test", quality_json(*trained.test)}};
}

LabReport report_of(const Setting& setting, const std::vector<Trained>& all) {
  LabReport report;
  const mlp::Network& network = setting.training.network;
  report.text = fmt::format(
      "{}: {} rows for training, {} for the test; network {} with {} parameters, batches of {}, "
      "{}, "
      "rate {}\n\n{}",
      setting.data.train.name, setting.data.train.rows(), setting.data.test.rows(),
      mlp::to_string(network), network.parameters(), setting.training.batch,
      setting.training.optimizer.kind == mlp::Optimizer::Kind::adam ? "adam" : "sgd",
      setting.training.optimizer.rate, times_table(all));
  report.data = {{"data", setting.data.train.name},       {"train_rows", setting.data.train.rows()},
                 {"test_rows", setting.data.test.rows()}, {"layers", network.widths()},
                 {"parameters", network.parameters()},    {"batch", setting.training.batch},
                 {"seed", setting.options.seed},          {"results", ordered_json::array()}};
  for (const Trained& trained : all) {
    report.data["results"].push_back(engine_json(trained));
    if (!trained.failure.empty()) {
      report.notes.push_back(fmt::format("{}: {}", trained.engine.name, trained.failure));
      report.outcome = {exit_error, "an engine did not come to the end, see above"};
    }
    if (!trained.timed()) {
      continue;
    }
    SampleSeries series{.name = fmt::format("mlp/train/{}/{}/{}", setting.data.train.name,
                                            fmt::join(network.widths(), "-"), trained.engine.name),
                        .threads = trained.provenance.threads,
                        .samples = {}};
    for (const mlp::Epoch& epoch : trained.epochs) {
      series.samples.push_back({.iterations = 1,
                                .seconds = epoch.times.data + epoch.times.step + epoch.times.wait,
                                .cpu_seconds = std::nullopt});
    }
    report.series.push_back(std::move(series));
  }
  if (!all.empty()) {
    report.text += "\n" + classification_report(all.back());
  }
  report.sentence = sentence(all);
  report.interrupted = interrupted();
  return report;
}

} // namespace

Action declare_mlp_train(CLI::App& app) {
  struct State {
    MlpGroup group;
    LabOutput output;
  };
  const auto state = std::make_shared<State>();
  state->group.declare(app);
  state->output.declare(app);
  return [state](const Invocation& invocation) {
    const Setting setting = prepare(state->group.read());
    return run_experiment("mlp_train", state->output, invocation, [&](Progress& progress) {
      std::vector<Trained> all;
      std::vector<std::string> skipped; // engines that cannot take this network
      for (const mlp::EngineInfo& engine : setting.options.engines) {
        if (!interrupted()) {
          try {
            all.push_back(run_engine(setting, engine, progress));
          } catch (const Unavailable& refusal) {
            if (setting.options.engines_named) {
              throw;
            }
            skipped.emplace_back(refusal.what());
          }
        }
      }
      if (!setting.options.save.empty() && !all.empty()) {
        mlp::write_safetensors(setting.options.save, setting.training.network,
                               all.front().parameters);
      }
      LabReport report = report_of(setting, all);
      report.notes.insert(report.notes.end(), skipped.begin(), skipped.end());
      return report;
    });
  };
}

} // namespace diffbench::bench
