// How long PyTorch takes to answer, call by call, in a process of its own.
#include "latency_study.hpp"

#include "diffbench/errors.hpp"
#include "image_rows.hpp"
#include "interrupt.hpp"
#include "peers.hpp"
#include "temporary_directory.hpp"
#include "training_job.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace diffbench::bench {

namespace {

/// Of one request: it is what Ctrl-C loses.
constexpr std::int64_t most_calls_asked = 10'000;
constexpr double most_seconds_asked = 1;

class AskedPeer {
 public:
  AskedPeer(const std::string& name, int threads, const LatencyJob& job)
      : job_(job),
        features_(random_rows(job.network, inputs_made * job.batch)),
        peer_(name, peer_job(), {.threads = threads}, interrupted) {}

  /// Of the outputs of the first rows, by output_error().
  double error() {
    peer_.reset();
    peer_.advance(1);
    const std::filesystem::path file = exchange_.path() / "outputs.npy";
    peer_.save(file);
    const Field<float> outputs = read_npy<float>(file);
    if (outputs.nx() != job_.network.classes() || outputs.ny() != job_.batch) {
      throw Error("the peer's outputs have another shape");
    }
    const auto size = static_cast<std::size_t>(job_.batch * job_.network.inputs());
    return output_error(job_.network, job_.parameters, std::span(features_).first(size),
                        outputs.cells());
  }

  void collect(LatencyRow& row) {
    while (true) {
      const std::int64_t left = job_.repetitions - static_cast<std::int64_t>(row.samples.size());
      if (left == 0) {
        return;
      }
      const PeerAnswers answers = peer_.answer({.warm_calls = warm_calls,
                                                .warm_seconds = warm_seconds,
                                                .count = std::min(left, most_calls_asked),
                                                .most_seconds = most_seconds_asked});
      row.clock_cost = answers.clock_cost;
      std::ranges::for_each(answers.seconds, [&](double seconds) { row.add_call(seconds); });
    }
  }

  [[nodiscard]] Provenance provenance() const { return peer_.provenance(); }

 private:
  [[nodiscard]] PeerJob peer_job() const {
    const mlp::Network& network = job_.network;
    return {.task = PeerTask::answering,
            .start = {{"layers", network.widths()},
                      {"batch", job_.batch},
                      {"parameters", write_rows(exchange_.path() / "parameters.npy",
                                                job_.parameters, network.parameters())},
                      {"features",
                       write_rows(exchange_.path() / "features.npy", features_, network.inputs())}},
            .most_step_seconds = network.flops_per_step(job_.batch) / slowest_peer_flops};
  }

  const LatencyJob& job_;
  TemporaryDirectory exchange_; ///< outlives the peer
  std::vector<float> features_;
  Peer peer_;
};

} // namespace

void study_peer_latency(LatencyRow& row, const std::string& peer, int threads,
                        const LatencyJob& job) {
  AskedPeer asked(peer, threads, job);
  row.provenance = asked.provenance();
  accept_outputs(row, asked.error());
  asked.collect(row);
}

} // namespace diffbench::bench
