#include "thread_scaling.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "image_rows.hpp"
#include "interrupt.hpp"
#include "race_options.hpp"
#include "scaling/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

/// So many batches are more than caches hold; more would only take longer to read.
constexpr std::int64_t batches = 100;
constexpr std::int64_t most_rows = 60'000; ///< as many as MNIST has
constexpr std::int64_t epoch_steps = 600;  ///< an epoch of MNIST in batches of 100

struct ThreadOptions {
  std::string data, directory;
  mlp::Network network{{image_pixels, 512, 512, image_classes}};
  RaceSetting race;
  LabOutput output;
};

/// Without --engine: the tuned one, and those on GPUs.
void keep_what_scales(RaceOptions& race) {
  std::erase_if(race.engines, [](const mlp::EngineInfo& engine) {
    return engine.device == DeviceKind::cpu && engine.name != "cpu";
  });
}

ThreadStudy measure(const ThreadOptions& options, Progress& progress) {
  RaceSetting setting = options.race;
  progress.stage("data");
  mlp::DataSet rows = image_rows(options.data, options.directory,
                                 std::min(batches * setting.batch, most_rows), setting.seed);
  if (setting.batch > rows.rows()) {
    throw InvalidInput(
        fmt::format("--batch {}: there are {} rows ({})", setting.batch, rows.rows(), rows.name));
  }
  ThreadStudy study{.data = rows.name,
                    .network = options.network,
                    .batch = setting.batch,
                    .race = {},
                    .usable_cpus = usable_cpus(),
                    .cpu_quota = cpu_quota()};
  const TrainingJob job =
      make_job({.network = options.network, .optimizer = setting.optimizer, .batch = setting.batch},
               std::move(rows), setting.seed);
  setting.race.most_steps = epoch_steps;
  PeerPool peers;
  study.race = run_race(job, setting.race, setting.budget_seconds, peers, progress);
  study.interrupted = interrupted();
  return study;
}

} // namespace

Action declare_mlp_scaling(OptionList& options) {
  const auto state = std::make_shared<ThreadOptions>();
  options.group("Data and network");
  options.text("--data NAME", state->data,
               "mnist, fashion, or made-up rows of the same size (default: the first that is "
               "installed)");
  options.choices({"mnist", "fashion", "made-up"});
  options.text("--data-dir DIR", state->directory,
               "where mnist or fashion are (default: where get-data puts them)");
  options.parsed("--layers N,N,...", state->network, "widths (default 784,512,512,10)",
                 mlp::parse_layers);
  declare_race(options, state->race, "cpu, and those on GPUs",
               "1, 2, 4, ... up to the usable CPUs");
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    RaceSetting& setting = state->race;
    choose_engines(setting);
    if (!setting.choice.named()) {
      keep_what_scales(setting.race);
    }
    setting.race.threads = thread_counts(setting.race.threads, usable_cpus());
    return run_experiment("mlp_scaling", state->output, invocation, [&](Progress& progress) {
      return thread_report(measure(*state, progress));
    });
  };
}

} // namespace diffbench::bench
