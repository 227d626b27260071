// SPDX-License-Identifier: Apache-2.0
// The verbs behind `diffbench cluster`.
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "option_groups.hpp"
#include "planning.hpp"
#include "prediction.hpp"
#include "value_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

/// Of ranks that are only reckoned with, and of threads of one process.
constexpr Limits predicted_limits{1, 65536};
constexpr Limits measured_limits{1, 256};

struct ClusterOptions {
  ComparisonPlan run;
  std::int64_t halo_depth = 0; ///< 0: chosen by trying
  LabOutput output;
  std::string backend = "simd";
  std::vector<int> ranks; ///< ascending; empty: the default
  std::optional<cluster::EmulatedNetwork> network;
  std::optional<double> rate;
  bool weak = false;
};

/// The launcher's ranks, or what was asked for, or 1, 2, 4, ... up to the CPUs.
std::vector<int> measured_ranks(const ClusterOptions& options, cluster::Ranks* launched,
                                bool one_number) {
  if (launched != nullptr) {
    if (!options.ranks.empty() || options.network) {
      throw InvalidInput(
          "--ranks and --network are for ranks that are threads of one process; this launcher "
          "has started its own ranks");
    }
    return {launched->size()};
  }
  std::vector<int> ranks = options.ranks;
  if (ranks.empty() && one_number) {
    ranks = {2};
  }
  for (int count = 1; options.ranks.empty() && !one_number && count <= usable_cpus(); count *= 2) {
    ranks.push_back(count);
  }
  if (one_number && ranks.size() != 1) {
    throw InvalidInput(fmt::format("--ranks {}: give one number", fmt::join(ranks, ",")));
  }
  return ranks;
}

/// What was asked for, or 1, 2, 4, ... 1024 as far as the rows do.
std::vector<int> predicted_ranks(const ClusterOptions& options) {
  if (!options.ranks.empty()) {
    return options.ranks;
  }
  std::vector<int> ranks{1};
  while (ranks.back() < 1024 && (options.weak || 4 * ranks.back() <= options.run.problem.ny)) {
    ranks.push_back(2 * ranks.back());
  }
  return ranks;
}

void declare_common(OptionList& options, ClusterOptions& state, Limits limits,
                    std::string_view ranks_help, std::string_view ranks_otherwise) {
  // No cell of it ever becomes a denormal number, whose arithmetic takes many times as long: with
  // the block, a row with longer samples would have more of them than another one.
  state.run.initial.kind = InitialField::Kind::random;
  declare_problem(options, state.run);
  options.group("What runs");
  options.text("--backend NAME", state.backend, "backend of each rank");
  options.value("--ranks LIST", described(ranks_help, to_string(limits), ranks_otherwise),
                [&state, limits](std::string_view option, const std::string& text) {
                  const auto ranks = parse_integers(option, text, limits);
                  state.ranks.assign(ranks.begin(), ranks.end());
                });
  declare_threads(options, state.run.session.threads, "threads of each rank",
                  "its share of the CPUs");
  declare_isa(options, state.run.session);
  declare_heeded(options, state.run.session.threads,
                 [&state] { return std::vector<std::string>{state.backend}; });
  declare_budget(options, state.run.budget_seconds, state.run.budget_binds);
  options.parsed("--network LATENCY,BANDWIDTH", state.network,
                 "emulate a network between ranks that are threads, such as 10us,25GB/s",
                 [](const std::string& text) { return cluster::parse_network(text); });
  declare_comm_timeout(options);
}

Action measuring(const std::shared_ptr<ClusterOptions>& state, ClusterQuestion question) {
  return [state, question](const Invocation& invocation) {
    ClusterPlan plan{.run = state->run,
                     .halo_depth = state->halo_depth,
                     .question = question,
                     .backend = state->backend};
    plan.ranks = measured_ranks(*state, invocation.ranks, question == ClusterQuestion::depth);
    plan.network = state->network.value_or(cluster::EmulatedNetwork{});
    const ComparisonPlan& run = plan.run;
    const bool depth = question == ClusterQuestion::depth;
    const std::size_t rows = depth ? cluster::depth_notches.size() : plan.ranks.size();
    state->output.expect(
        expected_seconds(run.budget_seconds, run.budget_binds, std::ssize(plan.ranks) + 1,
                         static_cast<double>(run.problem.cells()), run.iterations),
        fmt::format("{} {}, {}", rows, depth ? "depths" : "numbers of ranks",
                    limit_text(run.budget_seconds, run.budget_binds)));
    return run_experiment("cluster", state->output, invocation, [&](Progress& progress) {
      return cluster_report(measure_cluster(plan, invocation.ranks, progress));
    });
  };
}

/// On several numbers of ranks.
Action declare_scaling(OptionList& options, ClusterQuestion question, std::string_view ranks) {
  const auto state = std::make_shared<ClusterOptions>();
  declare_common(options, *state, measured_limits, ranks, "1, 2, 4, ... up to the CPUs");
  declare_halo_depth(options, state->halo_depth);
  state->output.declare(options);
  return measuring(state, question);
}

} // namespace

Action declare_cluster_strong(OptionList& options) {
  return declare_scaling(options, ClusterQuestion::strong, "such as 1,2,4");
}

Action declare_cluster_weak(OptionList& options) {
  return declare_scaling(options, ClusterQuestion::weak,
                         "such as 1,2,4; n ranks get n times the "
                         "rows");
}

Action declare_cluster_depth(OptionList& options) {
  const auto state = std::make_shared<ClusterOptions>();
  declare_common(options, *state, measured_limits, "one number", "2");
  state->output.declare(options);
  return measuring(state, ClusterQuestion::depth);
}

/// 10^9 cells a second of a rank: from an interpreter to a thousand of today's GPUs.
constexpr double least_rate = 1e-6;
constexpr double largest_rate = 1e6;

Action declare_cluster_predict(OptionList& options) {
  const auto state = std::make_shared<ClusterOptions>();
  declare_common(options, *state, predicted_limits, "such as 1,3,9 or 1:1024:x2",
                 "1:1024:x2, as far as there are rows");
  options.value("--rate GCELLS",
                "assume this rate of a rank, in 10^9 cells a second; needs --network, which is "
                "then assumed, too",
                [state](std::string_view option, const std::string& text) {
                  const double rate = parse_real(option, text);
                  if (!(rate >= least_rate && rate <= largest_rate)) {
                    throw InvalidInput(fmt::format("{} {}: give {:g} to {:g}", option, text,
                                                   least_rate, largest_rate));
                  }
                  state->rate = 1e9 * rate;
                });
  for (const char* measured :
       {"--backend", "--threads", "--isa", "--budget", "--iters", "--init", "--comm-timeout"}) {
    options.needs(measured, "a measured rate: leave --rate out", [state] { return !state->rate; });
  }
  options.flag("--weak", state->weak, "n ranks get n times the rows of --grid");
  options.check([state] {
    if (state->rate && !state->network) {
      throw InvalidInput("--rate needs --network, such as --rate 2500 --network 6us,150GB/s");
    }
  });
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    PredictionPlan plan{.run = state->run,
                        .backend = state->backend,
                        .ranks = predicted_ranks(*state),
                        .weak = state->weak,
                        .cells_per_second = state->rate,
                        .network = state->network};
    if (!state->rate) {
      state->output.expect(state->run.budget_seconds,
                           "one rank and its exchanges, " +
                               limit_text(state->run.budget_seconds, state->run.budget_binds));
    }
    return run_experiment("cluster", state->output, invocation, [&](Progress& progress) {
      return prediction_report(predict(plan, invocation.ranks, progress));
    });
  };
}

} // namespace diffbench::bench
