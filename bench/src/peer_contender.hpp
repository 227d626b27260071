// A peer as a row of the comparison. Its times are those of its own clock; what passes between the
// processes (requests, the field as a file) is never inside them.
#pragma once

#include "contender.hpp"
#include "diffbench/npy.hpp"
#include "observer.hpp"
#include "peer.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

namespace diffbench::bench {

template <typename T>
class PeerContender final : public Contender<T> {
 public:
  /// `peer` has started; its results pass through the file `exchange`.
  PeerContender(Peer peer, std::filesystem::path exchange, Observer& observer = nobody())
      : peer_(std::move(peer)), exchange_(std::move(exchange)), observer_(observer) {}

  FirstRun first_run(std::span<T> field, std::int64_t steps, double limit_seconds) override {
    FirstRun run;
    run.setup_seconds = peer_.setup_seconds();
    run.cost.reset_seconds = timed_reset();
    run.cost.step_seconds = peer_.advance(1);
    const std::int64_t count = affordable_steps(steps, run.cost.step_seconds, limit_seconds);
    run.cost.reset_seconds = timed_reset();
    const double compute = peer_.advance(count);
    run.steps = count;
    run.cost.step_seconds = compute / static_cast<double>(count);
    run.phases.alloc = run.setup_seconds;
    run.phases.compute = compute;
    run.phases.wall = run.setup_seconds + compute;
    fetch(field);
    return run;
  }

  void fetch(std::span<T> field) override {
    peer_.save(exchange_);
    const Field<T> saved = read_npy<T>(exchange_);
    if (saved.cells().size() != field.size()) {
      throw Error("the peer's field has another size than the problem");
    }
    std::copy(saved.cells().begin(), saved.cells().end(), field.begin());
  }

  Sample sample(std::int64_t steps) override {
    peer_.reset();
    const Observed timed(observer_, {.kind = Span::Kind::timed, .name = "steps", .steps = steps});
    return {.iterations = steps, .seconds = peer_.advance(steps), .cpu_seconds = std::nullopt};
  }

  Phases full_run(std::span<T> /*field*/, std::int64_t steps) override {
    Phases phases;
    phases.h2d = timed_reset();
    phases.compute = peer_.advance(steps);
    phases.wall = *phases.h2d + *phases.compute;
    return phases;
  }

  [[nodiscard]] Provenance provenance() const override { return peer_.provenance(); }
  [[nodiscard]] std::optional<std::int64_t> own_peak_bytes() const override {
    return peer_.peak_bytes();
  }

 private:
  double timed_reset() {
    const auto start = std::chrono::steady_clock::now();
    peer_.reset();
    return seconds_since<std::chrono::steady_clock>(start);
  }

  Peer peer_;
  std::filesystem::path exchange_;
  Observer& observer_;
};

} // namespace diffbench::bench
