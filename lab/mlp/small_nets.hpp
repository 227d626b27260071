// SPDX-License-Identifier: Apache-2.0
// What every engine of networks has to pass before it is timed: two small nets on which every
// layer, unit, bias and row of a batch matters. In a net of thousands of units and batches of
// thousands of rows, one that is left out may be less than what rounding does.
#pragma once

#include "step_check.hpp"
#include "timed_steps.hpp"
#include "value.hpp"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

class SmallNets {
 public:
  /// For steps by this optimizer, at a rate of its own.
  explicit SmallNets(mlp::Optimizer optimizer = {});

  using MakeSteps = std::function<std::unique_ptr<TimedSteps>(const TrainingJob& job)>;
  /// Of steps alone, up to the first that are wrong.
  [[nodiscard]] ProvedNets check(const MakeSteps& make);
  /// The same of an engine: of steps, whichever way its rows come to it, of a last batch that is
  /// smaller, and of outputs.
  [[nodiscard]] ProvedNets check(const mlp::EngineInfo& engine, const SessionOptions& session);

 private:
  struct Net {
    explicit Net(TrainingJob of) : job(std::move(of)) {}
    Net(const Net&) = delete; // the reference is that job's
    Net& operator=(const Net&) = delete;

    TrainingJob job;
    StepReference reference{job};
  };

  std::list<Net> nets_;
};

/// A row's name, and what it was proved on.
using NamedProof = std::pair<std::string, std::optional<ProvedNets>>;
/// Which small nets the rows that were right on them had, a line; nothing where there are none.
[[nodiscard]] std::string format_small_nets(std::span<const NamedProof> rows);
/// The same of rows that are NetRows of one kind.
template <typename Rows>
[[nodiscard]] std::string format_small_nets(const Rows& rows) {
  std::vector<NamedProof> proofs;
  for (const auto& row : rows) {
    if (row.verified()) {
      proofs.emplace_back(row.name, row.small_nets);
    }
  }
  return format_small_nets(std::span<const NamedProof>(proofs));
}
/// null without any.
[[nodiscard]] Value small_nets_json(const std::optional<ProvedNets>& proof);

} // namespace diffbench::bench
