// SPDX-License-Identifier: Apache-2.0
// An engine in a race with itself, for the self-test: a MakeEngineTrials.
#include "interrupt.hpp"
#include "race.hpp"
#include "selftest_trials.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>

namespace diffbench::bench {

namespace {

/// More than one, as in a training, and little to make for large batches.
constexpr std::int64_t trial_batches = 10;
constexpr std::uint64_t trial_seed = 1;

} // namespace

TrialSubject engine_trials(const EngineTrials& options) {
  const mlp::EngineInfo engine = mlp::require_engine(options.engine);
  require_cpu(engine.device, "--engine", engine.name);
  RaceOptions race;
  race.session = options.session;
  for (const TrialRow& row : trial_rows) {
    race.planted.push_back({.engine = engine, .label = row.label, .slowdown = row.slowdown});
  }
  const mlp::Network& network = options.network;
  const auto job = std::make_shared<const TrainingJob>(
      make_job({.network = network, .optimizer = {}, .batch = options.batch},
               made_up_images(trial_batches * options.batch, network.inputs(), network.classes(),
                              trial_seed),
               trial_seed));
  return {
      .title = fmt::format("{} with itself, {}, batches of {}", engine.name,
                           fmt::join(network.widths(), "-"), options.batch),
      .facts = {{"engine", engine.name}, {"layers", network.widths()}, {"batch", options.batch}},
      .trial_seconds = options.trial_seconds * sessions_of_trial,
      .run = [race, job, seconds = options.trial_seconds](Progress& progress) {
        PeerPool peers;
        const RaceResult result = run_race(*job, race, seconds, peers, progress);
        return TrialSession{.rows = {result.rows.begin(), result.rows.end()},
                            .outcome = outcome_of(endings_of(result.rows)),
                            .troubles = troubles(result.rows),
                            .interrupted = interrupted()};
      }};
}

} // namespace diffbench::bench
