// Peers in a race: what they are told of a job, and the children that they live in.
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "peer_contender.hpp"
#include "peers.hpp"
#include "trainer.hpp"

#include <filesystem>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

nlohmann::json optimizer_json(const mlp::Optimizer& optimizer) {
  nlohmann::json json{{"lr", optimizer.rate}, {"weight_decay", optimizer.weight_decay}};
  if (optimizer.kind == mlp::Optimizer::Kind::adam) {
    json.update({{"kind", "adam"},
                 {"betas", {optimizer.beta1, optimizer.beta2}},
                 {"eps", optimizer.epsilon}});
  } else {
    json.update({{"kind", "sgd"}, {"momentum", optimizer.momentum}});
  }
  return json;
}

PeerJob peer_job(const std::filesystem::path& directory, const TrainingJob& job) {
  const mlp::Network& network = job.training.network;
  return {
      .task = PeerTask::training,
      .start = {{"layers", network.widths()},
                {"batch", job.training.batch},
                {"optimizer", optimizer_json(job.training.optimizer)},
                {"parameters",
                 write_rows(directory / "parameters.npy", job.start, network.parameters())},
                {"features",
                 write_rows(directory / "features.npy", job.data.values, job.data.features)},
                // Whole numbers up to 2^24 are floats.
                {"labels", write_rows(directory / "labels.npy", job.data.labels, job.data.rows())}},
      .most_step_seconds = network.flops_per_step(job.training.batch) / slowest_peer_flops};
}

} // namespace

std::unique_ptr<Trainer> PeerPool::trainer(const std::string& name, int threads, int device,
                                           const TrainingJob& job) {
  const PeerJob start = peer_job(exchange_.path(), job);
  std::shared_ptr<Peer> peer = std::exchange(peers_[{name, threads}], nullptr);
  if (peer) {
    try {
      peer->restart(start);
    } catch (const Error&) { // it has died since
      peer.reset();
    }
  }
  if (!peer) {
    const SessionOptions session{.threads = threads, .device = device};
    peer = std::make_shared<Peer>(name, start, session, interrupted);
  }
  return std::make_unique<PeerContender<float>>(peers_[{name, threads}] = peer,
                                                exchange_.path() / "result.npy");
}

} // namespace diffbench::bench
