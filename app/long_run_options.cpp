// SPDX-License-Identifier: Apache-2.0
// The options of a run that lasts, and what a checkpoint says about them.
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/errors.hpp"
#include "long_run.hpp"
#include "option_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

/// "dt 0.1 where the checkpoint has 0.05"
template <typename Value>
void require_same(const LongRunOptions& run, std::string_view option, const Value& asked,
                  const Value& held, const std::string& file) {
  const auto& given = run.given_problem;
  if (std::ranges::find(given, option) != given.end() && asked != held) {
    throw InvalidInput(fmt::format("{} {}: the checkpoint '{}' has {}; leave the option out",
                                   option, asked, file, held));
  }
}

} // namespace

void declare_long_run(OptionList& options, LongRunOptions& run) {
  declare_problem(options, run);
  options.check([&] { run.given_problem = options.given_names("Problem"); });
  options.group("What runs");
  declare_backends(options, run.backends, "one");
  declare_threads(options, run.session.threads, "threads of each rank", "its share of the CPUs");
  declare_isa(options, run.session);
  declare_heeded(options, run.session.threads, [&run] { return run.backends; });
  declare_seconds(options, "--reference-time SECONDS", run.reference_seconds,
                  "that the oracle may take for the steps that it proves, at least 5");
  declare_transfer(options, run.session);
  declare_device_choice(options, run.session, run.device_chosen);
  declare_ranks(options, run.many);
  options.flag("--distributed",
               "one backend; each rank holds only its own rows: for fields too large for one rank");
  options.output("--checkpoint FILE.h5", run.checkpoint, kind_of_output::checkpoint,
                 "one backend; save its state (HDF5); the checkpoint before becomes "
                 "FILE.h5.previous");
  options.companions(cluster::checkpoint_companions, "--restart");
  options.integer("--checkpoint-every K", run.checkpoint_every, iteration_limits,
                  "iterations between two checkpoints");
  options.text("--restart FILE.h5", run.restart,
               "continue from that state, on any number of "
               "ranks");
  options.check([&run] {
    if (run.checkpoint.empty() != (run.checkpoint_every == 0)) {
      throw InvalidInput(
          "--checkpoint FILE.h5 and --checkpoint-every K belong together: give both");
    }
    if (run.backends.size() > 1) {
      throw InvalidInput(
          "--checkpoint, --restart and --distributed run one backend: name one with "
          "--backend");
    }
    if (run.backends.empty()) {
      run.backends = {"simd"};
    }
  });
  run.output.declare(options);
  options.output("--save FILE.npy", run.save, kind_of_output::field, "the final field");
}

std::string name_of(const InitialField& initial) {
  return to_string(initial) +
         (initial.kind == InitialField::Kind::random ? fmt::format(", seed {}", initial.seed) : "");
}

void take_problem(LongRunOptions& run, const cluster::CheckpointFacts& facts) {
  const std::string& file = run.restart;
  const Problem& asked = run.problem;
  const Problem& held = facts.problem;
  const auto grid = [](const Problem& problem) {
    return fmt::format("{}x{}", problem.nx, problem.ny);
  };
  require_same(run, "--grid", grid(asked), grid(held), file);
  require_same(run, "--dt", asked.dt, held.dt, file);
  require_same(run, "--diffusivity", asked.diffusivity, held.diffusivity, file);
  require_same(run, "--spacing", asked.spacing, held.spacing, file);
  require_same(run, "--boundary", to_string(asked.boundary), to_string(held.boundary), file);
  require_same(run, "--boundary-value", asked.boundary_value, held.boundary_value, file);
  require_same(run, "--dtype", to_string(asked.dtype), to_string(held.dtype), file);
  const bool seeded = std::ranges::find(run.given_problem, "--seed") != run.given_problem.end();
  require_same(run, seeded ? "--seed" : "--init",
               seeded ? fmt::format("random, seed {}", run.initial.seed) : name_of(run.initial),
               facts.initial, file);
  run.problem = held;
  if (facts.step > run.iterations) {
    throw InvalidInput(
        fmt::format("--restart {}: the checkpoint is of step {} already; give "
                    "more --iters",
                    file, facts.step));
  }
}

} // namespace diffbench::bench
