// A trainer that is slower on purpose, as SlowedSession is of the solver.
#pragma once

#include "cpu_time.hpp"
#include "diffbench/stopwatch.hpp"
#include "trainer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace diffbench::bench {

/// A planted slowdown: after the steps of a sample it keeps the CPU busy for `fraction` of what
/// they took, which counts as their time.
template <typename Clock = SteadyClock>
class SlowedTrainer final : public Trainer {
 public:
  SlowedTrainer(std::unique_ptr<Trainer> inner, double fraction)
      : inner_(std::move(inner)), fraction_(fraction) {}

  Sample sample(std::int64_t steps) override {
    Sample sample = inner_->sample(steps);
    const CpuTime cpu;
    const Stopwatch<Clock> watch;
    double waited = 0;
    while (waited < fraction_ * sample.seconds) {
      waited = watch.seconds();
    }
    sample.seconds += waited;
    if (sample.cpu_seconds) {
      *sample.cpu_seconds += cpu.seconds();
    }
    return sample;
  }
  void fetch(std::span<float> parameters) override { inner_->fetch(parameters); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = inner_->provenance();
    provenance.details.emplace_back("planted_slowdown", std::to_string(fraction_));
    return provenance;
  }
  [[nodiscard]] std::optional<std::int64_t> own_peak_bytes() const override {
    return inner_->own_peak_bytes();
  }

 private:
  std::unique_ptr<Trainer> inner_;
  double fraction_;
};

/// The trainer itself where there is nothing to plant.
[[nodiscard]] inline std::unique_ptr<Trainer> slowed(std::unique_ptr<Trainer> trainer,
                                                     double fraction) {
  return fraction > 0 ? std::make_unique<SlowedTrainer<>>(std::move(trainer), fraction)
                      : std::move(trainer);
}

} // namespace diffbench::bench
