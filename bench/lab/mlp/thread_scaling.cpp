#include "mlp/thread_scaling.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "mlp/image_rows.hpp"
#include "mlp/race_options.hpp"
#include "option_values.hpp"
#include "scaling.hpp"

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
  std::string data, directory, layers;
  RaceGroup race;
  LabOutput output;
};

/// Without --engine: the tuned one, and those on GPUs.
void keep_what_scales(RaceOptions& race) {
  std::erase_if(race.engines, [](const mlp::EngineInfo& engine) {
    return engine.device == DeviceKind::cpu && engine.name != "cpu";
  });
}

ThreadStudy measure(const ThreadOptions& options, RaceSetting setting, const mlp::Network& network,
                    Progress& progress) {
  progress.stage("data");
  mlp::DataSet rows = image_rows(options.data, options.directory,
                                 std::min(batches * setting.batch, most_rows), setting.seed);
  if (setting.batch > rows.rows()) {
    throw InvalidInput(
        fmt::format("--batch {}: there are {} rows ({})", setting.batch, rows.rows(), rows.name));
  }
  ThreadStudy study{.data = rows.name,
                    .network = network,
                    .batch = setting.batch,
                    .race = {},
                    .usable_cpus = usable_cpus(),
                    .cpu_quota = cpu_quota()};
  const TrainingJob job =
      make_job({.network = network, .optimizer = setting.optimizer, .batch = setting.batch},
               std::move(rows), setting.seed);
  setting.race.most_steps = epoch_steps;
  PeerPool peers;
  study.race = run_race(job, setting.race, setting.budget_seconds, peers, progress);
  study.interrupted = interrupted();
  return study;
}

} // namespace

Action declare_mlp_scaling(CLI::App& app) {
  const auto options = std::make_shared<ThreadOptions>();
  begin_group(app, "Data and network");
  declare_value(app, "--data", options->data, "NAME",
                "mnist, fashion, or made-up rows of their size (default: the first that is there)");
  declare_value(app, "--data-dir", options->directory, "DIR",
                "of mnist or fashion (default: where scripts/get-data puts them)");
  declare_value(app, "--layers", options->layers, "N,N,...", "widths (default 784,512,512,10)");
  options->race.default_engines = "cpu, and those on GPUs";
  options->race.default_threads = "1, 2, 4, ... up to the usable CPUs";
  options->race.declare(app);
  options->output.declare(app);
  return [options](const Invocation& invocation) {
    RaceSetting setting = options->race.read();
    if (!options->race.names_engines()) {
      keep_what_scales(setting.race);
    }
    std::vector<std::string> typed;
    for (const int threads : setting.race.threads) {
      typed.push_back(std::to_string(threads));
    }
    setting.race.threads = thread_counts(typed, usable_cpus());
    mlp::Network network({image_pixels, 512, 512, image_classes});
    assign("--layers", options->layers, network, mlp::parse_layers);
    return run_experiment("mlp_scaling", options->output, invocation, [&](Progress& progress) {
      return thread_report(measure(*options, setting, network, progress));
    });
  };
}

} // namespace diffbench::bench
