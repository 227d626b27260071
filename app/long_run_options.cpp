// SPDX-License-Identifier: Apache-2.0
// The options of a run that lasts, and what a checkpoint says about them.
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/errors.hpp"
#include "long_run.hpp"
#include "option_groups.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
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

ColourRange parse_range(std::string_view option, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto number = [](std::string_view part) {
    return parse_number<double>(part).value_or(std::nan(""));
  };
  const double low = number(text.substr(0, colon));
  const double high = number(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (!(std::isfinite(low) && std::isfinite(high) && low < high)) {
    throw InvalidInput(
        fmt::format("{} {}: give LO:HI with LO < HI, such as 0:0.005", option, text));
  }
  return {.low = low, .high = high};
}

void declare_checkpoints(OptionList& options, LongRunOptions& run) {
  options.group("Checkpoints");
  options.output("--checkpoint FILE.h5", run.checkpoint, kind_of_output::checkpoint,
                 "save the state (HDF5); the checkpoint before becomes FILE.h5.previous");
  options.companions(cluster::checkpoint_companions, "--restart");
  options.integer("--checkpoint-every K", run.checkpoint_every, iteration_limits,
                  "iterations between two checkpoints");
  options.text("--restart FILE.h5", run.restart,
               "continue from that state, on any number of ranks");
  options.check([&run] {
    if (run.checkpoint.empty() != (run.checkpoint_every == 0)) {
      throw InvalidInput(
          "--checkpoint FILE.h5 and --checkpoint-every K belong together: give both");
    }
  });
}

void declare_pictures(OptionList& options, LongRunOptions& run) {
  options.output("--save FILE.npy", run.save, kind_of_output::field, "the final field");
  options.output("--png FILE.png", run.png, kind_of_output::picture, "picture of the final field");
  options.value("--range LO:HI", "values drawn in the first and last colour",
                [&run](std::string_view option, const std::string& text) {
                  run.range = parse_range(option, text);
                });
  options.integer("--snapshot-every K", run.snapshot_every, iteration_limits,
                  "save the field every K iterations");
  options.text("--snapshot-dir DIR", run.snapshot_dir, "where");
  options.value("--snapshot-format NAME", "npy (default) or png",
                [&run](std::string_view option, const std::string& name) {
                  if (name != "npy" && name != "png") {
                    throw InvalidInput(fmt::format("{} {}: choose npy or png", option, name));
                  }
                  run.snapshots_are_pictures = name == "png";
                });
  options.choices({"npy", "png"});
  options.needs("--range", "--png FILE.png or --snapshot-format png",
                [&run] { return run.draws(); });
  for (const char* name : {"--snapshot-dir", "--snapshot-format"}) {
    options.needs(name, "--snapshot-every K", [&run] { return run.snapshot_every > 0; });
  }
}

void declare_long_run(OptionList& options, LongRunOptions& run) {
  declare_problem(options, run);
  options.check([&] { run.given_problem = options.given_names("Problem"); });
  options.group("What runs");
  declare_backends(options, run.backends, "one (default: simd)");
  declare_threads(options, run.session.threads, "threads of each rank", "its share of the CPUs");
  declare_isa(options, run.session);
  declare_heeded(options, run.session.threads, [&run] { return run.backends; });
  declare_seconds(options, "--reference-time SECONDS", run.reference_seconds,
                  "that the oracle may take for the steps that it proves, at least 5");
  declare_transfer(options, run.session);
  declare_device_choice(options, run.session, run.device_chosen);
  declare_ranks(options, run.many);
  declare_checkpoints(options, run);
  options.check([&run] {
    if (run.backends.size() > 1) {
      throw InvalidInput("run: it is one backend that runs: give one --backend");
    }
    if (run.backends.empty()) {
      run.backends = {"simd"};
    }
  });
  run.output.declare(options);
  declare_pictures(options, run);
}

} // namespace

Action declare_run(OptionList& options) {
  const auto typed = std::make_shared<LongRunOptions>();
  declare_long_run(options, *typed);
  return [typed](const Invocation& invocation) {
    typed->many.ranks = invocation.ranks;
    refuse_without_ranks(typed->many);
    return run_long(*typed, invocation);
  };
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
