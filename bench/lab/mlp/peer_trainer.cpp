// A peer in a race: its times are those of its own clock, round nothing but the steps.
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "mlp/peers.hpp"
#include "mlp/trainer.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>

namespace diffbench::bench {

namespace {

class PeerTrainer final : public Trainer {
 public:
  PeerTrainer(std::shared_ptr<Peer> peer, std::filesystem::path result)
      : peer_(std::move(peer)), result_(std::move(result)) {}

  Sample sample(std::int64_t steps) override {
    peer_->reset();
    return {.iterations = steps, .seconds = peer_->advance(steps), .cpu_seconds = std::nullopt};
  }
  void fetch(std::span<float> parameters) override {
    peer_->save(result_);
    const Field<float> saved = read_npy<float>(result_);
    if (saved.cells().size() != parameters.size()) {
      throw Error("the peer's network has another size");
    }
    std::ranges::copy(saved.cells(), parameters.begin());
  }
  [[nodiscard]] Provenance provenance() const override { return peer_->provenance(); }
  [[nodiscard]] std::optional<std::int64_t> own_peak_bytes() const override {
    return peer_->peak_bytes();
  }

 private:
  std::shared_ptr<Peer> peer_;
  std::filesystem::path result_;
};

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
  return std::make_unique<PeerTrainer>(peers_[{name, threads}] = peer,
                                       exchange_.path() / "result.npy");
}

} // namespace diffbench::bench
