// Steps that are slower on purpose, as SlowedSession is for the solver.
#pragma once

#include "cpu_time.hpp"
#include "diffbench/stopwatch.hpp"
#include "timed_steps.hpp"

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
class SlowedSteps final : public TimedSteps {
 public:
  SlowedSteps(std::unique_ptr<TimedSteps> inner, double fraction)
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
  std::unique_ptr<TimedSteps> inner_;
  double fraction_;
};

/// The steps itself where there is nothing to plant.
[[nodiscard]] inline std::unique_ptr<TimedSteps> slowed(std::unique_ptr<TimedSteps> steps,
                                                        double fraction) {
  return fraction > 0 ? std::make_unique<SlowedSteps<>>(std::move(steps), fraction)
                      : std::move(steps);
}

} // namespace diffbench::bench
