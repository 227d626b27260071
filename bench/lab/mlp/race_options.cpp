#include "race_options.hpp"

#include "peers.hpp"

namespace diffbench::bench {

void declare_race(OptionList& options, RaceSetting& setting, std::string_view default_engines,
                  std::string_view default_threads) {
  RaceOptions& race = setting.race;
  options.group("What runs");
  declare_engines(options, setting.choice, race.session, default_engines);
  declare_peers(options, race.peers);
  declare_thread_list(options, race.threads,
                      "such as 1,2: run threaded engines, and peers on the CPU, with each number",
                      default_threads);
  options.flag("--products", race.products,
               "also time the matrix products of a step alone, by OpenBLAS: the upper limit");
  options.flag("--quality", race.quality,
               "also count the errors in the training rows after all steps: is the quality equal?");
  options.integer("--batch N", setting.batch, batch_limits, "rows in a step");
  declare_optimizer(options, setting.optimizer);
  declare_seed(options, setting.seed, "for parameters and data");
  declare_budget(options, setting.budget_seconds, "time for the timing rounds");
}

void choose_engines(RaceSetting& setting) {
  setting.race.engines = choose_engines(setting.choice, setting.race.session.device);
  require_peers(setting.race.peers, PeerTask::training);
}

} // namespace diffbench::bench
