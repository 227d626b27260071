#include "mlp/race_options.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "mlp/options.hpp"
#include "mlp/peers.hpp"
#include "option_values.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

namespace {

constexpr std::int64_t most_batch = 1 << 24;
constexpr double most_seconds = 86400;

} // namespace

void RaceGroup::declare(CLI::App& app) {
  begin_group(app, "What runs");
  declare_values(
      app, "--engine", engines_, "NAME",
      fmt::format("engine to run, may be repeated (default: {})", default_engines).c_str());
  declare_values(app, "--peer", peers_, "NAME", "torch or torch_cuda beside them");
  declare_values(
      app, "--threads", threads_, "LIST",
      fmt::format("such as 1,2: threaded engines with each (default: {})", default_threads)
          .c_str());
  declare_flag(app, "--products", products_,
               "also the matrix products of a step alone, by OpenBLAS: the roof");
  declare_flag(app, "--quality", quality_,
               "also the errors in the training rows after all steps: equal quality?");
  declare_value(app, "--isa", isa_, "NAME", "baseline, avx2 or avx512 (default: the best)");
  declare_value(app, "--device", device_, "N", "which GPU (default 0)");
  declare_value(app, "--batch", batch_, "N", "rows of a step (default 100)");
  declare_value(app, "--optimizer", optimizer_, "NAME", "sgd (default) or adam");
  declare_value(app, "--lr", rate_, "X", "learning rate (default 0.1; adam 0.001)");
  declare_value(app, "--seed", seed_, "N", "of parameters and data (default 1)");
  declare_value(app, "--budget", budget_, "SECONDS", "time for the timing rounds (default 30)");
}

RaceSetting RaceGroup::read() const {
  RaceSetting setting;
  read_optimizer(optimizer_, rate_, setting.optimizer);
  assign_integer("--batch", batch_, 1, most_batch, setting.batch);
  if (!seed_.empty()) {
    setting.seed = static_cast<std::uint64_t>(parse_integer("--seed", seed_, 0, 1'000'000'000));
  }
  assign_real("--budget", budget_, setting.budget_seconds);
  if (!(setting.budget_seconds > 0 && setting.budget_seconds <= most_seconds)) {
    throw InvalidInput(
        fmt::format("--budget {}: give seconds above 0, up to {}", budget_, most_seconds));
  }
  for (const std::string& text : threads_) {
    setting.race.threads.push_back(
        static_cast<int>(parse_integer("--threads", text, 1, max_threads)));
  }
  read_isa(isa_, setting.race.session);
  const std::optional<int> device = read_device(device_);
  setting.race.session.device = device.value_or(0);
  setting.race.engines = choose_engines(engines_, device);
  require_peers(peers_, PeerTask::training);
  setting.race.peers = peers_;
  setting.race.products = products_;
  setting.race.quality = quality_;
  return setting;
}

} // namespace diffbench::bench
