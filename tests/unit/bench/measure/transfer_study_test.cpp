// SPDX-License-Identifier: Apache-2.0
// The comparison of copies, on a fake clock with fake sessions; and whether page-locking pays.
#include "transfer_study.hpp"

#include "fake_session.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace diffbench::bench {
namespace {

FakeDevice device(double make, double upload, double download) {
  FakeDevice device;
  device.keeps_account = true;
  device.make_seconds = make;
  device.upload_seconds = upload;
  device.download_seconds = download;
  return device;
}

TransferStudy study(double setup, double saved_per_trip) {
  TransferStudy study;
  study.setup_seconds = setup;
  study.pageable = {.h2d = 10, .d2h = 10};
  study.chosen = {.h2d = 10, .d2h = 10 - saved_per_trip};
  return study;
}

TEST(TransferStudy, MeasuresBothWays) {
  FakeDevice ordinary = device(8, 4, 6);
  FakeDevice locked = device(80, 1, 2);
  locked.has_host_buffer = true;
  std::vector<float> field{1, 2, 3, 4, 5, 6};
  const TransferStudy study = study_transfers<FakeClock>(
      [&](Transfer transfer) -> std::unique_ptr<Session<float>> {
        return std::make_unique<FakeSession>(transfer == Transfer::pinned ? locked : ordinary);
      },
      Transfer::pinned, std::span<float>(field));
  EXPECT_EQ(study.bytes, 24);
  EXPECT_DOUBLE_EQ(study.pageable.h2d, 4);
  EXPECT_DOUBLE_EQ(study.pageable.d2h, 6);
  EXPECT_DOUBLE_EQ(study.chosen.h2d, 1);
  EXPECT_DOUBLE_EQ(study.chosen.d2h, 2);
  EXPECT_DOUBLE_EQ(study.setup_seconds, 72 * 3.0 / 8); // alloc and pin; the context is shared
  EXPECT_DOUBLE_EQ(study.saved_per_trip(), 7);
  EXPECT_FALSE(study.is_open);
  EXPECT_EQ(study.trips_to_pay(), 4);
  EXPECT_TRUE(locked.copied_from_buffer);
  EXPECT_EQ(ordinary.alive + locked.alive, 0);
  EXPECT_FLOAT_EQ(field[5], 6);
}

TEST(TransferStudy, EqualCopiesLeaveItOpen) {
  FakeDevice ordinary = device(8, 4, 6);
  FakeDevice locked = device(80, 4, 6);
  std::vector<float> field{1, 2, 3, 4, 5, 6};
  const TransferStudy study = study_transfers<FakeClock>(
      [&](Transfer transfer) -> std::unique_ptr<Session<float>> {
        return std::make_unique<FakeSession>(transfer == Transfer::pinned ? locked : ordinary);
      },
      Transfer::pinned, std::span<float>(field));
  EXPECT_TRUE(study.is_open);
  EXPECT_EQ(study.trips_to_pay(), std::nullopt);
}

TEST(TransferStudy, TheSetupIsPaidForAfterWholeTrips) {
  EXPECT_EQ(study(10, 5).trips_to_pay(), 2);
  EXPECT_EQ(study(10.5, 5).trips_to_pay(), 3);
  EXPECT_EQ(study(1, 5).trips_to_pay(), 1);
}

TEST(TransferStudy, WithoutASetupItPaysAtOnce) {
  EXPECT_EQ(study(0, 5).trips_to_pay(), 0);
  EXPECT_EQ(study(0, 0).trips_to_pay(), 0);
  EXPECT_EQ(study(-1, 5).trips_to_pay(), 0);
}

TEST(TransferStudy, SlowerCopiesNeverPay) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(study(10, 0).trips_to_pay(), std::nullopt);
  EXPECT_EQ(study(10, -5).trips_to_pay(), std::nullopt);
  EXPECT_EQ(study(-10, -5).trips_to_pay(), std::nullopt);
  EXPECT_EQ(study(10, 1e-300).trips_to_pay(), std::nullopt);
  EXPECT_EQ(study(10, nan).trips_to_pay(), std::nullopt);
  EXPECT_EQ(study(nan, 5).trips_to_pay(), std::nullopt);
}

} // namespace
} // namespace diffbench::bench
