// SPDX-License-Identifier: Apache-2.0
#include "row_session.hpp"

#include "fake_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

TEST(SlowedSession, StepsTakeTheFractionLongerAndNothingElseDoes) {
  FakeDevice device;
  device.upload_seconds = 1;
  device.step_seconds = 2;
  device.wait_seconds = 0.5;
  device.download_seconds = 1;
  SlowedSession<float, TickingClock> session(std::make_unique<FakeSession>(device), 0.1);
  const std::vector<float> field{1, 2, 3};
  auto seconds_of = [](auto&& call) {
    const double start = FakeClock::seconds;
    call();
    return FakeClock::seconds - start;
  };
  EXPECT_NEAR(seconds_of([&] { session.upload(field); }), 1, 1e-9);
  EXPECT_NEAR(seconds_of([&] { session.advance(5); }), 1.1 * (5 * 2 + 0.5), 5e-3);
  EXPECT_NEAR(seconds_of([&] { session.wait(); }), 0.5, 1e-9);
  std::vector<float> result(3);
  EXPECT_NEAR(seconds_of([&] { session.download(result); }), 1, 1e-9);
  EXPECT_EQ(result, field);
  EXPECT_THAT(session.provenance().details, testing::Contains(testing::Key("planted_slowdown")));
}

} // namespace
} // namespace diffbench::bench
