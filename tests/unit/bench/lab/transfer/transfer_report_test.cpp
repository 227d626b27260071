// SPDX-License-Identifier: Apache-2.0
#include "transfer/transfer_report.hpp"

#include "sample_transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Caches caches{.l1d = 48 << 10, .l2 = 1 << 20, .l3 = 32 << 20};

TEST(HeldInTest, BothArraysMustFit) {
  EXPECT_EQ(held_in(16 << 10, 1, caches), "L1");
  EXPECT_EQ(held_in(32 << 10, 1, caches), "L2");
  EXPECT_EQ(held_in(512 << 10, 1, caches), "L2");
  EXPECT_EQ(held_in(1 << 20, 1, caches), "L3");
  EXPECT_EQ(held_in(16 << 20, 1, caches), "L3");
  EXPECT_EQ(held_in(32 << 20, 1, caches), "memory");
}

TEST(HeldInTest, ThreadsHaveTheirOwnInnerCachesAndShareTheLast) {
  EXPECT_EQ(held_in(32 << 10, 2, caches), "L1");
  EXPECT_EQ(held_in(1 << 20, 2, caches), "L2");
  EXPECT_EQ(held_in(32 << 20, 64, caches), "L2");
  EXPECT_EQ(held_in(128 << 20, 64, caches), "memory");
}

HostCopies host_of(double loop_seconds, double memcpy_seconds) {
  HostCopies host;
  host.curves = {{.way = "loop", .direction = "host", .threads = 1},
                 {.way = "memcpy", .direction = "host", .threads = 1}};
  host.curves[0].points = {copy_point(1024, 1e-8), copy_point(4096, loop_seconds)};
  host.curves[1].points = {copy_point(1024, 1e-8), copy_point(4096, memcpy_seconds)};
  return host;
}

TEST(AgreementTest, CountsTheSizesAndNamesTheFurthest) {
  const auto agreement = memcpy_against_loop(host_of(2e-8, 4e-8));
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->sizes, 2);
  EXPECT_EQ(agreement->within, 1);
  EXPECT_EQ(agreement->furthest_bytes, 4096);
  EXPECT_NEAR(agreement->furthest_ratio, 0.5, 1e-12);
  EXPECT_EQ(memcpy_against_loop(host_of(2.0e-8, 2.1e-8))->within, 2);
  EXPECT_FALSE(memcpy_against_loop({}));
}

TEST(SavedByLockingTest, IsThatOfTheCopyToTheDevice) {
  const TransferResult result = sample_transfer();
  const double bytes = 1 << 30;
  const double saved = 10e-6 + bytes / 10e9 - (8e-6 + bytes / 25e9);
  EXPECT_NEAR(saved_by_locking(*result.device, "pinned", 1 << 30).value(), saved, 1e-12);
  EXPECT_FALSE(saved_by_locking(*result.device, "managed", 1 << 30));
  EXPECT_FALSE(saved_by_locking(*result.device, "pinned", 12345));
}

TEST(UsesToPayTest, RoundsUpAndKnowsNever) {
  EXPECT_EQ(uses_to_pay(10, 4), 3);
  EXPECT_EQ(uses_to_pay(0, 4), 0);
  EXPECT_FALSE(uses_to_pay(10, 0));
  EXPECT_FALSE(uses_to_pay(10, -1));
  EXPECT_FALSE(uses_to_pay(10, 1e-30));
}

TEST(TransferReportTest, ADeviceHasItsTables) {
  const std::string text = format_transfer(sample_transfer());
  for (const char* part :
       {"Imaginary GPU", "to the device", "from the device", "both at once", "8.00 us", "25.0 GB/s",
        "195 KiB", "page-locking", "66 of 66 copies", "failed: managed h2d: the device cannot",
        "PCIe 4.0 x16", ": normal", "copy engines: 2\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(TransferReportTest, OneCopyEngineIsPointedOut) {
  TransferResult result = sample_transfer();
  result.device->copy_engines = 1;
  EXPECT_THAT(format_transfer(result), HasSubstr("both directions take turns"));
}

TEST(TransferReportTest, TheSentenceCoversBoth) {
  TransferResult result = sample_transfer();
  EXPECT_THAT(transfer_sentence(result), HasSubstr("in memory"));
  EXPECT_THAT(transfer_sentence(result), HasSubstr("1 GiB take 43.0 ms from pinned memory"));
  result.device->curves.clear();
  EXPECT_THAT(transfer_sentence(result), Not(HasSubstr("pinned")));
  result.host.curves.clear();
  EXPECT_EQ(transfer_sentence(result), "Nothing was measured.");
}

TEST(TransferReportTest, AWrongCopyIsSaidAndKnown) {
  TransferResult result = sample_transfer();
  EXPECT_TRUE(all_verified(result));
  result.device->curves[0].points[3].verified = false;
  EXPECT_FALSE(all_verified(result));
  EXPECT_THAT(format_transfer(result), HasSubstr("65 of 66 copies"));
}

} // namespace
} // namespace diffbench::bench
