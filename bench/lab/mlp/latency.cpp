#include "mlp/latency.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/safetensors.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "mlp/latency_report.hpp"
#include "mlp/latency_study.hpp"
#include "mlp/options.hpp"
#include "mlp/peer_latency.hpp"
#include "mlp/peers.hpp"
#include "mlp/training_job.hpp"
#include "option_values.hpp"
#include "progress.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t most_batch_rows = 1'000'000;
constexpr std::int64_t most_answers = 10'000'000;

/// The options as they were typed.
struct LatencyOptions {
  std::string layers, model, batch, repetitions, threads, isa;
  std::vector<std::string> engines, peers;

  void declare(CLI::App& app) {
    begin_group(app, "Network");
    declare_value(app, "--layers", layers, "N,N,...", "widths (default 784,128,10)");
    declare_value(app, "--model", model, "FILE.safetensors", "a network of your own");
    declare_value(app, "--batch", batch, "N", "rows of a call (default 1)");
    begin_group(app, "What runs");
    declare_values(app, "--engine", engines, "NAME",
                   "engine to run, may be repeated (default: all but scalar)");
    declare_values(app, "--peer", peers, "NAME", "torch or torch_cuda beside them");
    declare_value(app, "--repetitions", repetitions, "N", "calls that are timed (default 300)");
    declare_value(app, "--threads", threads, "N",
                  "for threaded engines (default: what pays) and torch (default: 1, and all)");
    declare_value(app, "--isa", isa, "NAME", "baseline, avx2 or avx512 (default: the best)");
  }

  [[nodiscard]] LatencyJob read() const {
    if (!layers.empty() && !model.empty()) {
      throw InvalidInput("--layers and --model: the model says what its layers are; give one");
    }
    LatencyJob job{.network = mlp::Network({784, 128, 10}), .parameters = {}, .session = {}};
    assign("--layers", layers, job.network, mlp::parse_layers);
    assign_integer("--batch", batch, 1, most_batch_rows, job.batch);
    assign_integer("--repetitions", repetitions, 2, most_answers, job.repetitions);
    if (!threads.empty()) {
      job.session.threads = static_cast<int>(parse_integer("--threads", threads, 1, max_threads));
    }
    read_isa(isa, job.session);
    if (model.empty()) {
      job.parameters.resize(static_cast<std::size_t>(job.network.parameters()));
      mlp::initialize<float>(job.network, 1, job.parameters);
    } else {
      mlp::Model read = mlp::read_safetensors(model);
      job.network = std::move(read.network);
      job.parameters = std::move(read.parameters);
    }
    return job;
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

Action declare_mlp_latency(CLI::App& app) {
  struct State {
    LatencyOptions options;
    LabOutput output;
  };
  const auto state = std::make_shared<State>();
  state->options.declare(app);
  state->output.declare(app);
  return [state](const Invocation& invocation) {
    const LatencyJob job = state->options.read();
    const std::vector<mlp::EngineInfo> engines = choose_engines(state->options.engines);
    require_peers(state->options.peers, PeerTask::answering);
    return run_experiment("mlp_latency", state->output, invocation, [&](Progress& progress) {
      std::vector<std::string> left_out;
      std::vector<LatencyRow> rows =
          ask_engines(engines, job, !state->options.engines.empty(), left_out, progress);
      ask_peers(state->options.peers, job, rows, progress);
      LabReport report = latency_report(job, rows);
      report.notes.insert(report.notes.end(), left_out.begin(), left_out.end());
      return report;
    });
  };
}

} // namespace diffbench::bench
