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

TEST_F(RoundTripTest, TheRowSaysSo) {
  const RoundTripSession<float> trips(std::make_unique<FakeSession>(device_), problem_, 2);
  EXPECT_THAT(trips.provenance().details, Contains(Pair("roundtrip_every", "2")));
}

} // namespace
} // namespace diffbench::bench
