// PyTorch beside the engines of `mlp train`.
#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "interrupt.hpp"
#include "peers.hpp"
#include "temporary_directory.hpp"
#include "train.hpp"
#include "training_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace diffbench::bench {

namespace {

/// The orders of more epochs would be large files; after these they come again.
constexpr std::int64_t most_orders = 100;

PeerJob job_of(const TrainSetting& setting, const std::filesystem::path& directory) {
  PeerJob job =
      network_job(PeerTask::epochs, directory, setting.training, setting.start, setting.data.train);
  const std::int64_t rows = setting.data.train.rows();
  const std::int64_t epochs = std::min(setting.options.epochs, most_orders);
  job.start["order"] =
      write_rows(directory / "order.npy", mlp::row_order(rows, setting.options.seed, epochs), rows);
  return job;
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
  const mlp::Network& network = setting.training.network;
  trained.train = mlp::quality_unless(interrupted, *engine, network, setting.data.train);
  trained.test = mlp::quality_unless(interrupted, *engine, network, setting.data.test);
}

} // namespace

Trained train_peer(const TrainSetting& setting, const std::string& peer, int threads,
                   Progress& progress) {
  Trained trained{.engine = row_name(peer_row_name(peer), threads),
                  .device = peer_device(peer, PeerTask::epochs),
                  .parameters = setting.start};
  progress.stage("training with " + trained.name());
  const TemporaryDirectory exchange;
  try {
    Peer child(peer, job_of(setting, exchange.path()),
               {.threads = threads, .device = setting.options.session.device}, interrupted);
    for (std::int64_t epoch = 1; epoch <= setting.options.epochs && !interrupted(); ++epoch) {
      trained.epochs.push_back(
          {.number = epoch, .loss = 0, .times = {}, .wall = child.advance(1), .engine = {}});
      progress.update(static_cast<double>(epoch) / static_cast<double>(setting.options.epochs));
    }
    trained.provenance = child.provenance();
    judge(setting, child, exchange.path() / "result.npy", trained);
  } catch (const Unavailable&) {
    throw;
  } catch (const Error& error) {
    if (!interrupted()) {
      trained.failure = error.what();
    }
  }
  return trained;
}

} // namespace diffbench::bench
