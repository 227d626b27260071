// The options that the verbs that race engines and peers share.
#pragma once

#include "options.hpp"
#include "race.hpp"

#include <cstdint>
#include <string_view>

namespace diffbench::bench {

struct RaceSetting {
  RaceOptions race;
  EngineChoice choice; ///< race.engines, once they are chosen
  mlp::Optimizer optimizer;
  std::int64_t batch = 100;
  std::uint64_t seed = 1;
  double budget_seconds = 30;
};

void declare_race(OptionList& options, RaceSetting& setting,
                  std::string_view default_engines = "all but scalar",
                  std::string_view default_threads = "as many as pay");
/// Throws InvalidInput, and for an engine or peer that cannot run here Unavailable.
void choose_engines(RaceSetting& setting);

} // namespace diffbench::bench
