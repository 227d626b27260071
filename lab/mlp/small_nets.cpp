// SPDX-License-Identifier: Apache-2.0
#include "small_nets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct SmallNet {
  std::vector<std::int64_t> widths; ///< odd, so that vectors and tiles have remainders
  std::int64_t batch;
  /// With which every bias moves by at least 1/50 of what its layer's do together.
  std::uint64_t seed;
};

const SmallNet small_nets[] = {{{5, 19, 7, 3}, 6, 66}, {{2, 33, 2}, 17, 2026}};

constexpr std::int64_t few_batches = 3;
/// More rows than a step has, as before the last batch of an epoch.
constexpr std::int64_t more_rows = 3;

TrainingJob job_of(const SmallNet& net, const mlp::Optimizer& optimizer) {
  const mlp::Network network(net.widths);
  const std::int64_t rows = few_batches * net.batch;
  mlp::DataSet data = made_up_images(rows, network.inputs(), network.classes(), net.seed);
  data.values = random_rows(network, rows);
  return make_job({.network = network, .optimizer = optimizer, .batch = net.batch}, std::move(data),
                  net.seed);
}

enum class Rows { handed_over, lying_there };

/// The parameters after so many steps of an engine that is made for larger batches.
std::vector<float> small_batches(mlp::Engine<float>& engine, const TrainingJob& job,
                                 std::int64_t steps, Rows rows) {
  engine.set_parameters(job.start);
  std::vector<std::int32_t> order(static_cast<std::size_t>(job.data.rows()));
  std::iota(order.begin(), order.end(), 0);
  const auto batch = static_cast<std::size_t>(job.training.batch);
  for (std::int64_t step = 0; step < steps; ++step) {
    if (rows == Rows::handed_over) {
      engine.step(job.features(step), job.labels(step));
    } else {
      const auto first = static_cast<std::size_t>(step % job.batches()) * batch;
      engine.resident_data()->run(std::span(order).subspan(first, batch));
    }
  }
  (void)engine.wait();
  std::vector<float> parameters(job.start.size());
  engine.get_parameters(parameters);
  return parameters;
}

std::vector<float> result_of(Timed<float>& timed, std::int64_t iterations, std::size_t size) {
  (void)timed.sample(iterations);
  std::vector<float> result(size);
  timed.fetch(result);
  return result;
}

/// Whether the next check is to be made.
bool take(ProvedNets& proof, const StepCheck& check, const TrainingJob& job) {
  const std::string net = mlp::to_string(job.training.network);
  if (std::ranges::find(proof.nets, net) == proof.nets.end()) {
    proof.nets.push_back(net);
  }
  ++proof.count;
  StepCheck& worst = proof.worst;
  if (worst.ok() && (!check.ok() || check.share_of_bound >= worst.share_of_bound)) {
    worst = check;
    worst.net = net;
  }
  return worst.ok();
}

} // namespace

SmallNets::SmallNets(mlp::Optimizer optimizer) {
  optimizer.rate = optimizer.kind == mlp::Optimizer::Kind::adam ? 0.001 : 0.1;
  optimizer.rate /= std::max(1.0, static_cast<double>(optimizer.weight_decay)); // stays stable
  for (const SmallNet& net : small_nets) {
    nets_.emplace_back(job_of(net, optimizer));
  }
}

ProvedNets SmallNets::check(const MakeSteps& make) {
  ProvedNets proof;
  for (Net& net : nets_) {
    const std::int64_t count = net.reference.steps();
    const auto steps = make(net.job);
    StepCheck check{.steps = count, .nonfinite = 1};
    try {
      check = net.reference.check(result_of(*steps, count, net.job.start.size()));
    } catch (const LossNotFinite&) { // the reference's is: it is the engine's fault
    }
    if (!take(proof, check, net.job)) {
      break;
    }
  }
  return proof;
}

ProvedNets SmallNets::check(const mlp::EngineInfo& engine, const SessionOptions& session) {
  ProvedNets proof =
      check([&](const TrainingJob& job) { return engine_steps(engine, session, job); });
  for (Net& net : nets_) {
    if (!proof.worst.ok()) {
      break;
    }
    const TrainingJob& job = net.job;
    const auto answers = engine_answers(engine, session, job);
    const auto outputs = static_cast<std::size_t>(job.training.batch * job.data.classes);
    const double error = output_error(job.training.network, job.start, job.features(0),
                                      result_of(*answers, 1, outputs));
    mlp::Training larger = job.training;
    larger.batch += more_rows;
    const auto made = engine.make_float32(larger, session);
    if (auto* const resident = made->resident_data()) {
      resident->set_data(job.data.values, job.data.labels);
    }
    const auto check_rows = [&](Rows rows) {
      const auto parameters = small_batches(*made, job, net.reference.steps(), rows);
      return take(proof, net.reference.check(parameters), job);
    };
    if (take(proof, check_outputs(error), job) && check_rows(Rows::handed_over) &&
        made->resident_data() != nullptr) {
      check_rows(Rows::lying_there);
    }
  }
  return proof;
}

std::string format_small_nets(std::span<const NamedProof> rows) {
  std::vector<std::string> without; // rows that take no other net
  const ProvedNets* proof = nullptr;
  for (const auto& [name, nets] : rows) {
    if (nets) {
      proof = &*nets;
    } else {
      without.push_back(name);
    }
  }
  return proof == nullptr
             ? ""
             : fmt::format(
                   "verified: before its run each row was right on the small nets {}{}\n",
                   fmt::join(proof->nets, " and "),
                   without.empty() ? "" : fmt::format("; not so {}", fmt::join(without, "; ")));
}

Value small_nets_json(const std::optional<ProvedNets>& proof) {
  if (!proof) {
    return nullptr;
  }
  const StepCheck& worst = proof->worst;
  return {{"count", proof->count},
          {"nets", proof->nets},
          {"share_of_bound", worst.share_of_bound},
          {"wrong", worst.ok() ? Value()
                               : Value{{"net", worst.net},
                                       {"steps", worst.steps},
                                       {"share_of_bound", worst.share_of_bound},
                                       {"nonfinite", worst.nonfinite}}}};
}

} // namespace diffbench::bench
