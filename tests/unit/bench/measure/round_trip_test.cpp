// SPDX-License-Identifier: Apache-2.0
#include "row_session.hpp"

#include "fake_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;

class RoundTripTest : public testing::Test {
 protected:
  FakeDevice device_;
  Problem problem_{.nx = 1, .ny = 6};
  std::vector<float> field_ = {1, 2, 3, 4, 5, 6};
};

TEST_F(RoundTripTest, TripsComeEveryKSteps) {
  RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  device_.log.clear();
  trips.upload(field_);
  trips.advance(5);
  trips.advance(1); // the sixth step ends the third stretch
  EXPECT_THAT(device_.log,
              ElementsAre("upload", "advance", "download", "upload", "advance", "download",
                          "upload", "advance", "advance", "download", "upload"));
  std::vector<float> result(6);
  trips.download(result);
  EXPECT_EQ(result, field_);
}

TEST_F(RoundTripTest, AnUploadBeginsAnew) {
  RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  trips.upload(field_);
  trips.advance(1);
  trips.upload(field_);
  device_.log.clear();
  trips.advance(1);
  EXPECT_THAT(device_.log, ElementsAre("advance"));
}

TEST_F(RoundTripTest, ReplacedRowsDoNot) {
  RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  trips.upload(field_);
  trips.advance(1);
  trips.upload_rows(4, std::vector<float>{50});
  device_.log.clear();
  trips.advance(1);
  EXPECT_THAT(device_.log, ElementsAre("advance", "download", "upload"));
  std::vector<float> result(2);
  trips.download_rows(3, result);
  EXPECT_THAT(result, ElementsAre(4, 50));
}

TEST_F(RoundTripTest, TripsUseTheSessionsOwnMemory) {
  device_.has_host_buffer = true;
  RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  trips.upload(field_);
  trips.advance(2);
  EXPECT_TRUE(device_.copied_from_buffer);
}

TEST_F(RoundTripTest, CopiesOnTheCpuAreCopiesInTheLedger) {
  FakeClock::seconds = 0; // so that sums are exact
  device_.upload_seconds = 3;
  device_.step_seconds = 10;
  device_.download_seconds = 5;
  device_.wait_seconds = 1;
  RoundTripSession<float, FakeClock> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  trips.upload(field_);
  (void)trips.take_phases(); // of the steps alone
  trips.advance(5);
  trips.wait();
  const std::optional<PhaseTimes> phases = trips.take_phases();
  ASSERT_TRUE(phases);
  EXPECT_EQ(phases->h2d, 2 * 3);
  EXPECT_EQ(phases->compute, 5 * 10);
  EXPECT_EQ(phases->d2h, 2 * 5);
  EXPECT_EQ(phases->sync, 1);
  EXPECT_EQ(trips.take_phases()->h2d, 0);
}

TEST_F(RoundTripTest, ADeviceKeepsItsOwnAccount) {
  device_.keeps_account = true;
  device_.step_seconds = 10;
  RoundTripSession<float, FakeClock> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  trips.upload(field_);
  trips.advance(2);
  const std::optional<PhaseTimes> phases = trips.take_phases();
  ASSERT_TRUE(phases);
  EXPECT_EQ(phases->launch, 20);
  EXPECT_EQ(phases->compute_busy, 20);
}

TEST_F(RoundTripTest, TheRowSaysSo) {
  const RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  EXPECT_THAT(trips.provenance().details, Contains(Pair("roundtrip_every", "2")));
}

} // namespace
} // namespace diffbench::bench
