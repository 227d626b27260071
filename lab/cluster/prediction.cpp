// SPDX-License-Identifier: Apache-2.0
#include "prediction.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

Problem problem_of(const PredictionPlan& plan, int ranks) {
  Problem problem = plan.run.problem;
  if (plan.weak) {
    problem.ny *= ranks;
  }
  return problem;
}

/// Of a rank, where it is calibrated and where a prediction is tried.
int threads_of(const PredictionPlan& plan, cluster::Ranks* launched) {
  const int asked = plan.run.session.threads;
  return asked > 0 ? asked : launched != nullptr ? launched->threads_per_rank() : 1;
}

/// What came of the rows, for the exit code.
void keep_rows(ClusterPrediction& prediction, const ClusterStudy& study) {
  std::ranges::copy(study.frame.rows, std::back_inserter(prediction.frame.rows));
  prediction.frame.disturbed = prediction.frame.disturbed || study.frame.disturbed;
  for (const std::string& note : study.frame.notes) {
    if (std::ranges::find(prediction.notes, note) == prediction.notes.end()) {
      prediction.notes.push_back(note);
    }
  }
}

/// A study of this many ranks, whose first entry is the backend without any.
ClusterStudy study_of(const PredictionPlan& plan, int ranks, cluster::Ranks* launched,
                      Progress& progress) {
  ClusterPlan part{.run = plan.run, .backend = plan.backend, .ranks = {ranks}};
  part.run.problem = problem_of(plan, ranks);
  part.run.session.threads = threads_of(plan, launched);
  part.network = plan.network.value_or(cluster::EmulatedNetwork{});
  return measure_cluster(part, launched, progress);
}

/// Both messages of a rank, one after the other.
cluster::ExchangeCost cost_of(const cluster::EmulatedNetwork& network) {
  return {.seconds = 2 * network.latency_seconds,
          .seconds_per_byte = network.bytes_per_second > 0 ? 2 / network.bytes_per_second : 0};
}

/// Several ranks of one thread each that the CPUs here have room for; of a launcher its own.
bool runs_here(int ranks, cluster::Ranks* launched) {
  return launched != nullptr ? ranks == launched->size() : ranks > 1 && ranks <= usable_cpus();
}

void assume(const PredictionPlan& plan, ClusterPrediction& prediction) {
  prediction.assumed = true;
  prediction.cells_per_second = *plan.cells_per_second;
  prediction.exchange = cost_of(*plan.network);
  prediction.source = fmt::format("assumed: {:g} GCell/s a rank, network {}",
                                  *plan.cells_per_second / 1e9, to_string(*plan.network));
}

void calibrate(const PredictionPlan& plan, cluster::Ranks* launched, Progress& progress,
               ClusterPrediction& prediction) {
  ClusterPlan alone{.run = plan.run, .backend = plan.backend, .ranks = {1}};
  alone.run.session.threads = threads_of(plan, launched);
  const ClusterStudy study = measure_cluster(alone, launched, progress);
  prediction.frame = study.frame;
  prediction.frame.rows.clear();
  keep_rows(prediction, study);
  if (interrupted()) {
    throw Interrupted();
  }
  const Row& plain = study.frame.rows.front();
  if (!plain.ranked()) {
    const Outcome outcome = outcome_of(prediction.frame);
    if (outcome.exit_code == exit_not_verified) {
      return;
    }
    throw Error(fmt::format("{} has no verified time on one rank, so nothing can be predicted: {}",
                            plan.backend, plain.reason));
  }
  prediction.cells_per_second =
      static_cast<double>(alone.run.problem.cells()) / plain.step_seconds();
  progress.stage("exchange of halos");
  std::optional<RankTeam> threads;
  if (launched == nullptr) {
    threads.emplace(2, plan.network.value_or(cluster::EmulatedNetwork{}));
  }
  cluster::Ranks& ranks = launched != nullptr ? *launched : threads->ranks();
  Exchanges exchanges(std::int64_t{4} << 20);
  exchanges.measure(ranks);
  const ExchangeFit fit = exchanges.fit();
  prediction.exchange = fit.cost;
  prediction.fit_residual = fit.median_residual;
  prediction.source = fmt::format("measured here: {} on one rank, exchanges between {} ranks ({})",
                                  plan.backend, ranks.size(), ranks.transport().description());
}

} // namespace

PredictedRun predict_run(const Problem& problem, int ranks, double cells_per_second,
                         const cluster::ExchangeCost& exchange) {
  PredictedRun run{.ranks = ranks, .problem = problem};
  const cluster::RankWork work{.rows = static_cast<double>(problem.ny) / ranks,
                               .nx = static_cast<double>(problem.nx),
                               .cell_bytes = static_cast<double>(problem.element_bytes()),
                               .seconds_per_cell = 1 / cells_per_second};
  if (ranks == 1) {
    run.seconds = static_cast<double>(problem.cells()) / cells_per_second;
    return run;
  }
  run.depth = cluster::best_depth(work, exchange);
  run.seconds = cluster::step_seconds(work, exchange, run.depth);
  run.efficiency = cluster::efficiency(work, exchange, run.depth);
  run.every_step = cluster::efficiency(work, exchange, 1);
  return run;
}

ClusterPrediction predict(const PredictionPlan& plan, cluster::Ranks* launched,
                          Progress& progress) {
  for (const int ranks : plan.ranks) {
    validate(problem_of(plan, ranks), Stability::waived); // weak: of so many rows
    (void)cluster::deepest_halo(problem_of(plan, ranks), ranks);
  }
  ClusterPrediction prediction;
  prediction.frame.problem = plan.run.problem;
  prediction.frame.initial = plan.run.initial;
  prediction.frame.iterations = plan.run.iterations;
  if (plan.cells_per_second) {
    assume(plan, prediction);
  } else {
    calibrate(plan, launched, progress, prediction);
  }
  for (const int ranks : plan.ranks) {
    if (prediction.cells_per_second == 0) {
      break; // a wrong result has no speed
    }
    prediction.runs.push_back(predict_run(problem_of(plan, ranks), ranks,
                                          prediction.cells_per_second, prediction.exchange));
    PredictedRun& run = prediction.runs.back();
    if (!prediction.assumed && runs_here(ranks, launched) && !interrupted()) {
      const ClusterStudy study = study_of(plan, ranks, launched, progress);
      keep_rows(prediction, study);
      if (study.frame.rows.back().ranked()) {
        run.measured = study.frame.rows.back().step_seconds();
      }
    }
  }
  prediction.frame.interrupted = interrupted();
  return prediction;
}

} // namespace diffbench::bench
