// SPDX-License-Identifier: Apache-2.0
#include "latency.hpp"

#include "competition.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "units.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

struct LatencyOptions {
  LatencyJob job{.network = mlp::Network({784, 128, 10}), .parameters = {}, .session = {}};
  EngineChoice choice;
  std::vector<std::string> peers;
  LabOutput output;

  void declare(OptionList& options) {
    options.group("Network");
    options.parsed("--layers N,N,...", job.network, "widths (default 784,128,10)",
                   mlp::parse_layers);
    options.integer("--batch N", job.batch, batch_limits, "rows of a call");
    options.group("What runs");
    declare_engines(options, choice, job.session);
    declare_peers(options, peers);
    options.integer("--repetitions N", job.repetitions, {2, 10'000'000}, "calls that are timed");
    declare_threads(options, job.session.threads, "for threaded engines, and torch",
                    "as many as pay; torch: 1, and all");
    output.declare(options);
  }

  /// With made-up parameters.
  [[nodiscard]] LatencyJob complete() const {
    LatencyJob complete = job;
    complete.parameters.resize(static_cast<std::size_t>(job.network.parameters()));
    mlp::initialize<float>(job.network, 1, complete.parameters);
    return complete;
  }
};

/// An engine or a peer in the competition; its calls are timed in its study, before the next one
/// has its turn: each call is to find the caches as the one before left them.
struct LatencyContender : Contender<LatencyRow, Timed<float>> {
  std::function<void(LatencyRow&)> study;
  Absence absence = Absence::ends_all;
};

/// An engine that cannot take this network is an error where engines are `named`.
std::vector<LatencyRow> study_all(std::span<const mlp::EngineInfo> engines, bool named,
                                  std::span<const std::string> peers, const LatencyJob& job,
                                  Progress& progress) {
  Competition<LatencyContender> competition(progress);
  for (const mlp::EngineInfo& engine : engines) {
    LatencyContender contender;
    contender.row.name = engine.name;
    contender.row.device = engine.device;
    contender.study = [&](LatencyRow& row) { study_latency(row, engine, job); };
    contender.absence = named ? Absence::ends_all : Absence::skips_row;
    competition.enter(std::move(contender));
  }
  for (const std::string& peer : peers) {
    for (const int threads : peer_threads(peer, PeerTask::answering, job.session.threads)) {
      LatencyContender contender;
      contender.row.name = row_name("peer:" + peer, threads);
      contender.row.device = peer_device(peer, PeerTask::answering);
      contender.study = [&, threads](LatencyRow& row) {
        study_peer_latency(row, peer, threads, job);
      };
      competition.enter(std::move(contender));
    }
  }
  try {
    competition.verify([&](LatencyContender& contender) {
      progress.stage("asking " + contender.row.name);
      contender.study(contender.row);
    });
  } catch (const Interrupted&) {
  }
  return competition.take_rows();
}

} // namespace

Action declare_mlp_latency(OptionList& options) {
  const auto typed = std::make_shared<LatencyOptions>();
  typed->declare(options);
  return [typed](const Invocation& invocation) {
    const LatencyJob job = typed->complete();
    const std::vector<mlp::EngineInfo> engines = choose_engines(typed->choice, job.session.device);
    require_peers(typed->peers, PeerTask::answering);
    constexpr double seconds_of_row = 3;
    const std::size_t rows = engines.size() + typed->peers.size();
    typed->output.expect(seconds_of_row * static_cast<double>(rows),
                         fmt::format("{}, {} answers each", counted(rows, "row"), job.repetitions));
    return run_experiment("mlp_latency", typed->output, invocation, [&](Progress& progress) {
      return latency_report(job,
                            study_all(engines, typed->choice.named(), typed->peers, job, progress));
    });
  };
}

} // namespace diffbench::bench
