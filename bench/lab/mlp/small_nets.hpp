// What every engine of networks has to pass before it is timed: two small nets on which every
// layer, unit, bias and row of a batch matters. In a net of thousands of units and batches of
// thousands of rows, one that is left out may be less than what rounding does.
#pragma once

#include "step_check.hpp"
#include "timed_steps.hpp"

#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace diffbench::bench {

class SmallNets {
 public:
  /// For steps by this optimizer, at a rate of its own.
  explicit SmallNets(mlp::Optimizer optimizer = {});

  using MakeSteps = std::function<std::unique_ptr<TimedSteps>(const TrainingJob& job)>;
  /// Of steps alone. The check that failed, or the one that was nearest to it.
  [[nodiscard]] StepCheck check(const MakeSteps& make);
  /// The same of an engine: of steps, whichever way its rows come to it, of a last batch that is
  /// smaller, and of outputs.
  [[nodiscard]] StepCheck check(const mlp::EngineInfo& engine, const SessionOptions& session);

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

} // namespace diffbench::bench
