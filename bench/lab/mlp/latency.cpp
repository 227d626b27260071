#include "latency.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/safetensors.hpp"
#include "interrupt.hpp"
#include "lab_verbs.hpp"
#include "options.hpp"
#include "peer_latency.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "training_job.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct LatencyOptions {
  LatencyJob job{.network = mlp::Network({784, 128, 10}), .parameters = {}, .session = {}};
  std::string model;
  EngineChoice choice;
  std::vector<std::string> peers;
  LabOutput output;

  void declare(OptionList& options) {
    options.group("Network");
    options.parsed("--layers N,N,...", job.network, "widths (default 784,128,10)",
                   mlp::parse_layers);
    declare_model(options, model, "a network of your own");
    options.integer("--batch N", job.batch, batch_limits, "rows of a call");
    options.group("What runs");
    declare_engines(options, choice, job.session);
    declare_peers(options, peers);
    options.integer("--repetitions N", job.repetitions, {2, 10'000'000}, "calls that are timed");
    declare_threads(options, job.session.threads, "for threaded engines, and torch",
                    "what pays; torch 1, and all");
    output.declare(options);
  }

  /// With the parameters of the model, or made-up ones.
  [[nodiscard]] LatencyJob complete() const {
    LatencyJob complete = job;
    if (model.empty()) {
      complete.parameters.resize(static_cast<std::size_t>(job.network.parameters()));
      mlp::initialize<float>(job.network, 1, complete.parameters);
    } else {
      mlp::Model read = mlp::read_safetensors(model);
      complete.network = std::move(read.network);
      complete.parameters = std::move(read.parameters);
    }
    return complete;
  }
};

/// An engine that cannot take this network is an error where engines are `named`, else `left_out`
/// has why.
std::vector<LatencyRow> ask_engines(std::span<const mlp::EngineInfo> engines, const LatencyJob& job,
                                    bool named, std::vector<std::string>& left_out,
                                    Progress& progress) {
  std::vector<LatencyRow> rows;
  for (const mlp::EngineInfo& engine : engines) {
    if (interrupted()) {
      break;
    }
    progress.stage(fmt::format("asking {}", engine.name));
    try {
      rows.push_back(study_latency(engine, job));
    } catch (const Unavailable& refusal) {
      if (named) {
        throw;
      }
      left_out.emplace_back(refusal.what());
    }
  }
  return rows;
}

void ask_peers(std::span<const std::string> peers, const LatencyJob& job,
               std::vector<LatencyRow>& rows, Progress& progress) {
  for (const std::string& peer : peers) {
    for (const int threads : peer_threads(peer, job.session.threads)) {
      if (interrupted()) {
        return;
      }
      progress.stage(fmt::format("asking {}", row_name("peer:" + peer, threads)));
      rows.push_back(study_peer_latency(peer, threads, job));
    }
  }
}

} // namespace

Action declare_mlp_latency(OptionList& options) {
  const auto typed = std::make_shared<LatencyOptions>();
  typed->declare(options);
  return [typed](const Invocation& invocation) {
    const LatencyJob job = typed->complete();
    const std::vector<mlp::EngineInfo> engines = choose_engines(typed->choice, job.session.device);
    require_peers(typed->peers, PeerTask::answering);
    return run_experiment("mlp_latency", typed->output, invocation, [&](Progress& progress) {
      std::vector<std::string> left_out;
      std::vector<LatencyRow> rows =
          ask_engines(engines, job, typed->choice.named(), left_out, progress);
      ask_peers(typed->peers, job, rows, progress);
      LabReport report = latency_report(job, rows);
      report.notes.insert(report.notes.end(), left_out.begin(), left_out.end());
      return report;
    });
  };
}

} // namespace diffbench::bench
