// SPDX-License-Identifier: Apache-2.0
// Peers as rows of the comparison. Their times are those of their own clocks; what passes between
// the processes (requests, the field as a file) is never inside them.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "peer.hpp"
#include "progress.hpp"
#include "timed_solve.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

template <typename T>
class TimedPeer final : public TimedSolve<T> {
 public:
  /// `peer` has started; its results pass through the file `exchange`. `initial`: the file of the
  /// field that it started from, where it is to run others, too.
  TimedPeer(std::shared_ptr<Peer> peer, std::filesystem::path exchange,
            Observer& observer = nobody(), std::filesystem::path initial = {})
      : peer_(std::move(peer)),
        exchange_(std::move(exchange)),
        observer_(observer),
        initial_(std::move(initial)) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    FirstRun run;
    run.setup_seconds = peer_->setup_seconds();
    run.cost.reset_seconds = timed_reset();
    run.cost.step_seconds = peer_->advance(1);
    const std::int64_t count = affordable_steps(steps, run.cost.step_seconds, limit_seconds);
    run.cost.reset_seconds = timed_reset();
    const double compute = peer_->advance(count);
    run.steps = count;
    run.cost.step_seconds = compute / static_cast<double>(count);
    run.phases.alloc = run.setup_seconds;
    run.phases.compute = compute;
    run.phases.wall = run.setup_seconds + compute;
    fetch(field);
    return run;
  }

  void fetch(std::span<T> field) override {
    peer_->save(exchange_);
    const Field<T> saved = read_npy<T>(exchange_);
    if (saved.cells().size() != field.size()) {
      throw Error("the peer's result has another size than the problem's");
    }
    std::ranges::copy(saved.cells(), field.begin());
  }

  bool run_from(Field<T>& field, std::int64_t steps) override {
    if (initial_.empty() || !peer_->takes_other_fields()) {
      return false;
    }
    const std::filesystem::path other = exchange_.parent_path() / "other.npy";
    write_npy(other, field);
    peer_->load(other);
    peer_->reset();
    peer_->advance(steps);
    fetch(field.cells());
    peer_->load(initial_); // which the samples start from
    peer_->reset();
    return true;
  }

  Sample sample(std::int64_t steps) override {
    peer_->reset();
    const Observed timed(observer_, {.kind = Span::Kind::timed, .name = "steps", .steps = steps});
    return {.iterations = steps, .seconds = peer_->advance(steps), .cpu_seconds = std::nullopt};
  }

  Phases full_run(std::span<T> /*field*/, std::int64_t steps) override {
    Phases phases;
    phases.h2d = timed_reset();
    phases.compute = peer_->advance(steps);
    phases.wall = *phases.h2d + *phases.compute;
    return phases;
  }

  [[nodiscard]] Provenance provenance() const override { return peer_->provenance(); }
  [[nodiscard]] pid_t process() const override { return peer_->process(); }
  [[nodiscard]] std::optional<std::int64_t> own_peak_bytes() const override {
    return peer_->peak_bytes();
  }

 private:
  double timed_reset() {
    const Stopwatch watch;
    peer_->reset();
    return watch.seconds();
  }

  std::shared_ptr<Peer> peer_;
  std::filesystem::path exchange_;
  Observer& observer_;
  std::filesystem::path initial_;
};

/// Starts the peers. The initial field goes to them through a file in `exchange`, so that all rows
/// start from the same bits. Throws Unavailable, Error or Interrupted.
template <typename T>
std::vector<SolveContender<T>> peer_contenders(const ComparisonPlan& plan, const Field<T>& initial,
                                               const std::filesystem::path& exchange,
                                               Progress& progress, Observer& observer) {
  const std::filesystem::path file = exchange / "initial.npy";
  write_npy(file, initial);
  std::vector<SolveContender<T>> contenders;
  try {
    for (const std::string& name : plan.peers) {
      progress.stage("starting " + peer_row_name(name));
      SolveContender<T> contender;
      contender.row.name = peer_row_name(name);
      contender.row.kernel = contender.row.name;
      contender.row.is_peer = true;
      // NumPy's expression: the field, its successor, and four rolled copies.
      contender.host_need = 6 * plan.problem.field_bytes();
      contender.timed = std::make_unique<TimedPeer<T>>(
          std::make_shared<Peer>(name, plan.problem, file, plan.session, interrupted),
          exchange / "result.npy", observer, file);
      contenders.push_back(std::move(contender));
    }
  } catch (const Error&) {
    if (interrupted()) {
      throw Interrupted();
    }
    throw;
  }
  return contenders;
}

} // namespace diffbench::bench
