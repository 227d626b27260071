// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "timed_peer.hpp"

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

} // namespace

void require_peers(const std::vector<std::string>& names, PeerTask task) {
  const std::vector<std::string> known = peer_names(task);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw unknown_name("peer", name, known);
    }
    if (const Probe probe = probe_peer(name, task); !probe.available) {
      throw Unavailable(probe.reason);
    }
  }
}

PeerJob network_job(PeerTask task, const std::filesystem::path& directory,
                    const mlp::Training& training, std::span<const float> start,
                    const mlp::DataSet& data) {
  const mlp::Network& network = training.network;
  const std::int64_t steps =
      task == PeerTask::epochs ? (data.rows() + training.batch - 1) / training.batch : 1;
  return {
      .task = task,
      .start = {{"layers", network.widths()},
                {"batch", training.batch},
                {"optimizer", optimizer_json(training.optimizer)},
                {"parameters",
                 write_rows(directory / "parameters.npy", start, network.parameters())},
                {"features", write_rows(directory / "features.npy", data.values, data.features)},
                // Whole numbers up to 2^24 are floats.
                {"labels", write_rows(directory / "labels.npy", data.labels, data.rows())}},
      .most_step_seconds =
          static_cast<double>(steps) * network.flops_per_step(training.batch) / slowest_peer_flops};
}

std::vector<int> peer_threads(std::string_view peer, PeerTask task, int asked) {
  if (peer_device(peer, task) != DeviceKind::cpu) {
    return {1};
  }
  if (asked != 0) {
    return {asked};
  }
  const int all = usable_cpus();
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

std::unique_ptr<TimedSteps> PeerPool::steps(const std::string& name, int threads, int device,
                                            const TrainingJob& job) {
  const PeerJob start =
      network_job(PeerTask::training, exchange_.path(), job.training, job.start, job.data);
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
  return std::make_unique<TimedPeer<float>>(peers_[{name, threads}] = peer,
                                            exchange_.path() / "result.npy");
}

} // namespace diffbench::bench
