// The ledger of a training: parts of the time that exclude each other and add up to the wall time.
#pragma once

#include "diffbench/mlp/training.hpp"
#include "value.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Of all epochs of one engine, in seconds.
struct TrainLedger {
  std::string engine;
  mlp::StepTimes parts;                 ///< on the host's clock
  double unexplained = 0;               ///< what they leave of `wall`
  double wall = 0;                      ///< from the drawing of the order to the last step
  std::optional<mlp::StepTimes> device; ///< by the device's own clock, where there is one
};

/// An engine that keeps no account leaves all of its time unexplained.
[[nodiscard]] TrainLedger ledger_of(std::string engine, std::span<const mlp::Epoch> epochs);

/// Shares of the wall time, engine by engine, and which parts an engine does at once.
[[nodiscard]] std::string ledger_table(std::span<const TrainLedger> ledgers);

[[nodiscard]] Value ledger_json(const TrainLedger& ledger);

} // namespace diffbench::bench
