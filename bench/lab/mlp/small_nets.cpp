#include "small_nets.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
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
bool take(StepCheck& worst, const StepCheck& check, const TrainingJob& job) {
  if (worst.ok() && (!check.ok() || check.share_of_bound >= worst.share_of_bound)) {
    worst = check;
    worst.net = "the small net " + mlp::to_string(job.training.network);
  }
  return worst.ok();
}

} // namespace

SmallNets::SmallNets(mlp::Optimizer optimizer) {
  optimizer.rate = optimizer.kind == mlp::Optimizer::Kind::adam ? 0.001 : 0.1;
  for (const SmallNet& net : small_nets) {
    nets_.emplace_back(job_of(net, optimizer));
  }
}

StepCheck SmallNets::check(const MakeSteps& make) {
  StepCheck worst;
  for (Net& net : nets_) {
    const auto steps = make(net.job);
    const auto parameters = result_of(*steps, net.reference.steps(), net.job.start.size());
    if (!take(worst, net.reference.check(parameters), net.job)) {
      break;
    }
  }
  return worst;
}

StepCheck SmallNets::check(const mlp::EngineInfo& engine, const SessionOptions& session) {
  StepCheck worst =
      check([&](const TrainingJob& job) { return engine_steps(engine, session, job); });
  for (Net& net : nets_) {
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
      return take(worst, net.reference.check(parameters), job);
    };
    if (!worst.ok() || !take(worst, check_outputs(error), job) || !check_rows(Rows::handed_over) ||
        (made->resident_data() != nullptr && !check_rows(Rows::lying_there))) {
      break;
    }
  }
  return worst;
}

} // namespace diffbench::bench
