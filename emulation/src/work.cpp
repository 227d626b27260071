// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include "race_detector.hpp"

#include <utility>

namespace diffbench::emulation {

OperationPtr WorkQueue::add(std::function<void()> run, const std::vector<OperationPtr>& after) {
  auto operation = std::make_shared<Operation>();
  operation->run = std::move(run);
  std::vector<const OperationOrder*> orders;
  for (const OperationPtr& earlier : after) {
    if (earlier == nullptr) {
      continue;
    }
    orders.push_back(&earlier->order);
    if (!earlier->done()) {
      earlier->next.push_back(operation);
      ++operation->missing;
    }
  }
  operation->order = race_detector().issue(orders);
  if (operation->missing == 0) {
    ready_.push_back(operation);
  }
  ++pending_;
  return operation;
}

bool WorkQueue::run_one(Random& random) {
  if (ready_.empty()) {
    return false;
  }
  const OperationPtr operation = random.take(ready_);
  if (operation->run) {
    race_detector().begin_operation(operation->order);
    operation->run();
  }
  complete(*operation);
  return true;
}

void WorkQueue::complete(Operation& operation) {
  operation.done_at = ++clock_;
  operation.run = nullptr;
  --pending_;
  for (OperationPtr& later : std::exchange(operation.next, {})) {
    if (--later->missing == 0) {
      ready_.push_back(std::move(later));
    }
  }
}

void WorkQueue::run_until_done(const Operation& operation, Random& random) {
  while (!operation.done() && run_one(random)) {
  }
}

void WorkQueue::run_all(Random& random) {
  while (run_one(random)) {
  }
}

void WorkQueue::drop_all() {
  while (!ready_.empty()) {
    const OperationPtr operation = std::move(ready_.back());
    ready_.pop_back();
    complete(*operation);
  }
}

} // namespace diffbench::emulation
