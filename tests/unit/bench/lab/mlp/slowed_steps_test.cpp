// SPDX-License-Identifier: Apache-2.0
#include "mlp/timed_steps.hpp"

#include "fake_clock.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

namespace diffbench::bench {
namespace {

/// Two seconds a step, and one more for what comes before the time.
class FakeSteps final : public TimedSteps {
 public:
  Sample sample(std::int64_t steps) override {
    FakeClock::seconds += 1;
    const double seconds = 2 * static_cast<double>(steps);
    FakeClock::seconds += seconds;
    return {.iterations = steps, .seconds = seconds, .cpu_seconds = seconds};
  }
  void fetch(std::span<float> parameters) override { std::ranges::fill(parameters, 7.F); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance;
    provenance.threads = 3;
    return provenance;
  }
  [[nodiscard]] std::optional<std::int64_t> own_peak_bytes() const override { return 5; }
};

TEST(SlowedSteps, SamplesTakeTheFractionLongerAndNothingElseDoes) {
  SlowedSteps<TickingClock> steps(std::make_unique<FakeSteps>(), 0.1);
  const double start = FakeClock::seconds;
  const Sample sample = steps.sample(5);
  EXPECT_EQ(sample.iterations, 5);
  EXPECT_NEAR(sample.seconds, 1.1 * 5 * 2, 5e-3);
  EXPECT_GE(sample.cpu_seconds, 5 * 2);
  EXPECT_NEAR(FakeClock::seconds - start, 1 + 1.1 * 5 * 2, 5e-3);
}

TEST(SlowedSteps, TheRestIsThatOfTheStepsWithin) {
  SlowedSteps<TickingClock> steps(std::make_unique<FakeSteps>(), 0.1);
  std::vector<float> parameters(2);
  steps.fetch(parameters);
  EXPECT_THAT(parameters, testing::Each(7.F));
  EXPECT_EQ(steps.own_peak_bytes(), 5);
  EXPECT_EQ(steps.provenance().threads, 3);
  EXPECT_THAT(steps.provenance().details, testing::Contains(testing::Key("planted_slowdown")));
}

TEST(SlowedSteps, WithoutASlowdownThereIsNothingBeforeTheSteps) {
  auto made = std::make_unique<FakeSteps>();
  const TimedSteps* const within = made.get();
  EXPECT_EQ(slowed(std::move(made), 0).get(), within);
}

} // namespace
} // namespace diffbench::bench
