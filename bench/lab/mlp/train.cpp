#include "train.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/safetensors.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "peers.hpp"
#include "small_nets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

mlp::Network default_network(const mlp::DataSet& data) {
  if (data.name == "disc") {
    return mlp::doubling_network(32);
  }
  return mlp::Network({data.features, 128, data.classes});
}

/// Everything that can be refused is refused here.
TrainSetting prepare(MlpOptions options) {
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
                         .batch = options.batch,
                         .times = true};
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

/// Each engine, and with --async once more with its batches gathered ahead. Engines that cannot
/// take this network are `skipped`, with the reason, unless they were named.
std::vector<Trained> run_engines(const TrainSetting& setting, std::vector<std::string>& notes,
                                 Progress& progress) {
  std::vector<Trained> all;
  for (const mlp::EngineInfo& engine : setting.options.engines) {
    try {
      for (const bool prefetch : {false, true}) {
        if (!interrupted() && (!prefetch || setting.options.prefetch)) {
          all.push_back(train_engine(setting, engine, prefetch, progress));
        }
      }
    } catch (const Unavailable& refusal) {
      if (setting.options.choice.named()) {
        throw;
      }
      notes.emplace_back(refusal.what());
    }
  }
  return all;
}

/// Those on the CPU once with 1 thread and once with all, unless --threads says how many.
void run_peers(const TrainSetting& setting, std::vector<Trained>& all, Progress& progress) {
  for (const std::string& peer : setting.options.peers) {
    for (const int threads :
         peer_threads(peer, PeerTask::epochs, setting.options.session.threads)) {
      if (!interrupted()) {
        all.push_back(train_peer(setting, peer, threads, progress));
      }
    }
  }
}

/// What no verb would take again, or was not trained at all, does not replace what is there.
void save_parameters(const TrainSetting& setting, const Trained& trained, LabReport& report) {
  const std::string& file = setting.options.save;
  if (!std::ranges::all_of(trained.parameters, [](float value) { return std::isfinite(value); })) {
    report.notes.push_back(fmt::format(
        "--save {}: nothing is written, since {} ended with parameters that are not finite", file,
        trained.name()));
    report.outcome = {exit_error, report.notes.back()};
    return;
  }
  if (!trained.failure.empty() && trained.epochs.empty()) {
    report.notes.push_back(fmt::format(
        "--save {}: nothing is written, since {} did not finish an epoch", file, trained.name()));
    return;
  }
  mlp::write_safetensors(file, setting.training.network, trained.parameters);
  report.written.push_back(file);
}

} // namespace

Trained train_engine(const TrainSetting& setting, const mlp::EngineInfo& info, bool prefetch,
                     Progress& progress) {
  Trained trained{.engine = std::string(info.name),
                  .device = info.device,
                  .prefetched = prefetch,
                  .parameters = setting.start};
  SessionOptions session = setting.options.session;
  session.async = prefetch;
  trained.check = SmallNets(setting.training.optimizer).check(info, session);
  if (trained.wrong()) {
    trained.failure = "WRONG: " + to_text(*trained.check) + "; not trained";
    return trained;
  }
  const auto engine = info.make<float>()(setting.training, session);
  progress.stage(fmt::format("training with {}", trained.name()));
  const mlp::Schedule schedule{
      .epochs = setting.options.epochs,
      .seed = setting.options.seed,
      .feed = setting.options.batches_from_host ? mlp::Feed::batches : mlp::Feed::resident,
      .prefetch = prefetch,
      .stop = interrupted};
  try {
    mlp::train(*engine, setting.training, setting.data.train, schedule, trained.parameters,
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
  const mlp::Network& network = setting.training.network;
  trained.train = mlp::quality_unless(interrupted, *engine, network, setting.data.train);
  trained.test = mlp::quality_unless(interrupted, *engine, network, setting.data.test);
  return trained;
}

Action declare_mlp_train(OptionList& options) {
  struct State {
    MlpOptions training;
    LabOutput output;
  };
  const auto state = std::make_shared<State>();
  declare_training(options, state->training);
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    choose_engines(state->training);
    require_peers(state->training.peers, PeerTask::epochs);
    const TrainSetting setting = prepare(state->training);
    return run_experiment("mlp_train", state->output, invocation, [&](Progress& progress) {
      std::vector<std::string> notes = setting.options.notes;
      std::vector<Trained> all = run_engines(setting, notes, progress);
      run_peers(setting, all, progress);
      LabReport report = train_report(setting, all);
      report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
      if (!setting.options.save.empty() && !all.empty()) {
        save_parameters(setting, all.front(), report);
      }
      return report;
    });
  };
}

} // namespace diffbench::bench
