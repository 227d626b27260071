// SPDX-License-Identifier: Apache-2.0
// Work that has been issued and not yet run: operations, each after some others.
//
// Nothing runs when it is issued. When the host waits, operations whose predecessors are done run
// one by one, chosen by the seed, until what the host waits for is done: every interleaving of the
// streams that their order and events allow can happen, and no other.
#pragma once

#include "happens_before.hpp"
#include "random.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace diffbench::emulation {

struct Operation {
  std::function<void()> run;                    ///< may be empty
  std::vector<std::shared_ptr<Operation>> next; ///< wait for this one
  int missing = 0;                              ///< predecessors that are not done
  std::int64_t done_at = 0;                     ///< 0: not done
  OperationOrder order;                         ///< kept where races are looked for
  [[nodiscard]] bool done() const { return done_at != 0; }
};
using OperationPtr = std::shared_ptr<Operation>;

class WorkQueue {
 public:
  OperationPtr add(std::function<void()> run, const std::vector<OperationPtr>& after);
  /// Runs one operation that can run; false when there is none.
  bool run_one(Random& random);
  void run_until_done(const Operation& operation, Random& random);
  void run_all(Random& random);
  /// All that is pending counts as done without having run.
  void drop_all();
  [[nodiscard]] std::int64_t pending() const { return pending_; }

 private:
  void complete(Operation& operation);

  std::vector<OperationPtr> ready_;
  std::int64_t pending_ = 0;
  std::int64_t clock_ = 0; ///< ticks once an operation
};

} // namespace diffbench::emulation
