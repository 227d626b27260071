// The options that the verbs that race engines and peers share.
#pragma once

#include "mlp/race.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace diffbench::bench {

struct RaceSetting {
  RaceOptions race;
  mlp::Optimizer optimizer;
  std::int64_t batch = 100;
  std::uint64_t seed = 1;
  double budget_seconds = 30;
};

/// The options as they were typed.
class RaceGroup {
 public:
  std::string default_engines = "all but scalar", default_threads = "as many as pay"; ///< in help
  void declare(CLI::App& app);
  /// Throws InvalidInput, and for an engine or peer that cannot run here Unavailable.
  [[nodiscard]] RaceSetting read() const;
  [[nodiscard]] bool names_engines() const { return !engines_.empty(); }

 private:
  std::vector<std::string> engines_, peers_, threads_;
  std::string isa_, device_, optimizer_, rate_, batch_, seed_, budget_;
  bool products_ = false, quality_ = false;
};

} // namespace diffbench::bench
