// SPDX-License-Identifier: Apache-2.0
#include "train.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "peers.hpp"
#include "rounds.hpp"
#include "small_nets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

namespace diffbench::bench {

namespace {

/// The orders of more epochs would be large files; after these they come again.
constexpr std::int64_t most_orders = 100;

mlp::Network default_network(const mlp::DataSet& data) {
  if (data.name == "disc") {
    return mlp::doubling_network(32);
  }
  return mlp::Network({data.features, 128, data.classes});
}

/// Everything that can be refused is refused here.
TrainSetting prepare(MlpOptions options) {
  mlp::Split data = load_data(options);
  mlp::Training training{
      .network = options.network.value_or(default_network(data.train)),
      .optimizer = options.optimizer,
      .batch = options.batch > 0 ? options.batch : std::min<std::int64_t>(100, data.train.rows()),
      .times = true};
  mlp::check_fits(training, data.train);
  std::vector<float> start(static_cast<std::size_t>(training.network.parameters()));
  mlp::initialize<float>(training.network, options.seed, start);
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

PeerJob job_of(const TrainSetting& setting, const std::filesystem::path& directory) {
  PeerJob job =
      network_job(PeerTask::epochs, directory, setting.training, setting.start, setting.data.train);
  const std::int64_t rows = setting.data.train.rows();
  const std::int64_t epochs = std::min(setting.options.epochs, most_orders);
  job.start["order"] =
      write_rows(directory / "order.npy", mlp::row_order(rows, setting.options.seed, epochs), rows);
  return job;
}

Trained not_trained(const TrainSetting& setting, const std::string& engine, DeviceKind device) {
  Trained trained;
  trained.name = trained.engine = engine;
  trained.device = device;
  trained.parameters = setting.start;
  return trained;
}

void judge(const TrainSetting& setting, mlp::Engine<float>& engine, Trained& trained) {
  const mlp::Network& network = setting.training.network;
  trained.train = mlp::quality_unless(interrupted, engine, network, setting.data.train);
  trained.test = mlp::quality_unless(interrupted, engine, network, setting.data.test);
}

/// Of the parameters that the peer has come to.
void judge(const TrainSetting& setting, Peer& peer, const std::filesystem::path& file,
           Trained& trained) {
  peer.save(file);
  const Field<float> saved = read_npy<float>(file);
  if (saved.cells().size() != trained.parameters.size()) {
    throw Error("the peer's result has another size than the network");
  }
  std::ranges::copy(saved.cells(), trained.parameters.begin());
  const auto engine = mlp::require_engine("cpu").make_float32(setting.training, {});
  engine->set_parameters(trained.parameters);
  judge(setting, *engine, trained);
}

} // namespace

Trained train_engine(const TrainSetting& setting, const mlp::EngineInfo& info, bool prefetch,
                     Progress& progress) {
  Trained trained = not_trained(setting, std::string(info.name), info.device);
  trained.prefetched = prefetch;
  trained.name += prefetch ? "+async" : "";
  SessionOptions session = setting.options.session;
  session.async = prefetch;
  progress.stage(fmt::format("training with {}", trained.name));
  std::unique_ptr<mlp::Engine<float>> engine;
  try {
    trained.small_nets = SmallNets(setting.training.optimizer).check(info, session);
    if (const StepCheck& worst = trained.small_nets->worst; !worst.ok()) {
      trained.check = worst;
      trained.give_up("WRONG: " + to_text(worst) + "; not trained");
      return trained;
    }
    engine = info.make<float>()(setting.training, session);
  } catch (const Unavailable&) {
    throw;
  } catch (const Error& error) {
    trained.give_up(error.what());
    return trained;
  } catch (const Interrupted&) { // those that were trained before are kept
    return trained;
  }
  const mlp::Schedule schedule{
      .epochs = setting.options.epochs,
      .seed = setting.options.seed,
      .feed = setting.options.batches_from_host ? mlp::Feed::batches : mlp::Feed::resident,
      .prefetch = prefetch,
      .stop = interrupted};
  try {
    StolenTime stolen;
    mlp::train(*engine, setting.training, setting.data.train, schedule, trained.parameters,
               [&](const mlp::Epoch& epoch) {
                 trained.add(epoch, stolen);
                 stolen = StolenTime();
                 progress.update(static_cast<double>(epoch.number) /
                                 static_cast<double>(setting.options.epochs));
                 return !interrupted();
               });
  } catch (const Error& error) {
    trained.give_up(error.what());
    engine->set_parameters(trained.parameters);
  }
  trained.provenance = engine->provenance();
  trained.check = trained.small_nets->worst; // all that is proved of it
  judge(setting, *engine, trained);
  return trained;
}

Trained train_peer(const TrainSetting& setting, const std::string& peer, int threads,
                   Progress& progress) {
  Trained trained = not_trained(setting, row_name(peer_row_name(peer), threads),
                                peer_device(peer, PeerTask::epochs));
  progress.stage("training with " + trained.name);
  const TemporaryDirectory exchange;
  try {
    Peer child(peer, job_of(setting, exchange.path()),
               {.threads = threads, .device = setting.options.session.device}, interrupted);
    for (std::int64_t epoch = 1; epoch <= setting.options.epochs && !interrupted(); ++epoch) {
      const StolenTime stolen(child.process());
      const double wall = child.advance(1);
      trained.add({.number = epoch, .loss = 0, .times = {}, .wall = wall, .engine = {}}, stolen);
      progress.update(static_cast<double>(epoch) / static_cast<double>(setting.options.epochs));
    }
    trained.provenance = child.provenance();
    judge(setting, child, exchange.path() / "result.npy", trained);
  } catch (const Unavailable&) {
    throw;
  } catch (const Error& error) {
    if (!interrupted()) {
      trained.give_up(error.what());
    }
  }
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
    constexpr double operations_per_second = 2e9; // of small networks on a few threads
    const double steps = static_cast<double>(setting.options.epochs * setting.data.train.rows()) /
                         static_cast<double>(setting.training.batch);
    const std::size_t rows = setting.options.engines.size() + setting.options.peers.size();
    state->output.expect(static_cast<double>(rows) * steps *
                             setting.training.network.flops_per_step(setting.training.batch) /
                             operations_per_second,
                         fmt::format("{} epochs with {} row{}; fewer --epochs take less",
                                     setting.options.epochs, rows, rows == 1 ? "" : "s"));
    return run_experiment("mlp_train", state->output, invocation, [&](Progress& progress) {
      const LoadWatch load;
      std::vector<std::string> notes = setting.options.notes;
      std::vector<Trained> all = run_engines(setting, notes, progress);
      run_peers(setting, all, progress);
      for (Trained& trained : all) {
        allow_for_others(trained.samples, load.others_disturb());
      }
      LabReport report = train_report(setting, all);
      report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
      return report;
    });
  };
}

} // namespace diffbench::bench
