// SPDX-License-Identifier: Apache-2.0
// The reports on GPU rows, from made-up numbers.

#include "sample_result.hpp"
#include "speedup.hpp"
#include "table.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// 0.1 ms an iteration. Warm: 40 ms, of which 8 ms kernels. Cold: 2 s.
Row row_on_gpu() {
  Row row = timed_row("gpu", 1, 0.1e-3);
  row.device = DeviceKind::cuda;
  row.provenance.device = "Test GPU";
  Phases warm;
  warm.h2d = 10e-3;
  warm.launch = 1e-3;
  warm.compute = 7e-3;
  warm.sync = 0.5e-3;
  warm.d2h = 20e-3;
  warm.unexplained = 1.5e-3;
  warm.wall = 40e-3;
  warm.busy = BusyTimes{.h2d = 9e-3, .compute = 8e-3, .d2h = 19e-3};
  row.warm = warm;
  row.cold->wall = 2;
  row.cold->context = 1;
  row.cold->busy = BusyTimes{.h2d = 90e-3, .compute = 80e-3, .d2h = 190e-3};
  return row;
}

/// sample_result: slow 10 ms, fast 1 ms an iteration, 100 iterations, cold runs of 1 s.
ComparisonResult gpu_result() {
  ComparisonResult result = sample_result();
  result.rows[0].warm = Phases{};
  result.rows[0].warm->wall = 1.2;
  result.rows.push_back(row_on_gpu());
  return result;
}

TEST(Speedups, CompareLikeWithLike) {
  const ComparisonResult result = gpu_result();
  const Row& gpu = result.rows.back();
  const Speedups slow = speedups(result, gpu, &result.rows[0]);
  EXPECT_DOUBLE_EQ(*slow.kernels, 1.0 / 8e-3);
  EXPECT_DOUBLE_EQ(*slow.per_iteration, 100);
  EXPECT_DOUBLE_EQ(*slow.warm, 1.2 / 40e-3);
  EXPECT_DOUBLE_EQ(*slow.cold, 0.5);
  const Speedups fast = speedups(result, gpu, &result.rows[1]);
  EXPECT_DOUBLE_EQ(*fast.kernels, 0.1 / 8e-3);
  EXPECT_FALSE(fast.warm); // it has no warm run
}

TEST(Speedups, KernelsOfTheColdRunServeWhereThereIsNoWarmOne) {
  ComparisonResult result = gpu_result();
  Row& gpu = result.rows.back();
  gpu.cold->busy = BusyTimes{.compute = 5e-3};
  gpu.warm.reset();
  EXPECT_DOUBLE_EQ(*speedups(result, gpu, &result.rows[0]).kernels, 1.0 / 5e-3);
}

TEST(Speedups, AgainstNothingThereAreNone) {
  const ComparisonResult result = gpu_result();
  for (const Row* against : {static_cast<const Row*>(nullptr), result.find("wrong")}) {
    const Speedups none = speedups(result, result.rows.back(), against);
    EXPECT_FALSE(none.kernels || none.per_iteration || none.warm || none.cold);
  }
}

TEST(Speedups, IterationsFromWhichAColdRunPays) {
  ComparisonResult result = gpu_result();
  Row& gpu = result.rows.back();
  // Once: 1.99 s against 0.9 s; each: 0.1 ms against 1 ms.
  EXPECT_EQ(iterations_to_pay(result, gpu, result.rows[1]), 1212);
  EXPECT_EQ(iterations_to_pay(result, result.rows[1], gpu), std::nullopt); // slower in each
  gpu.cold->wall = 0.1;
  EXPECT_EQ(iterations_to_pay(result, gpu, result.rows[1]), 1);
  gpu.cold.reset();
  EXPECT_EQ(iterations_to_pay(result, gpu, result.rows[1]), std::nullopt);
}

TEST(DeviceReport, TheLedgerHasBothRunsInMilliseconds) {
  const std::string text = format_ledger(gpu_result());
  EXPECT_THAT(text, ContainsRegex("phases in ms +context +alloc +pin +h2d +launch +compute +sync "
                                  "+d2h +free +unexplained += wall +busy: h2d +compute +d2h\n"));
  EXPECT_THAT(text, ContainsRegex("gpu, warm +- +- +- +10\\.0 +1\\.00 +7\\.00 +0\\.500 +20\\.0 +- "
                                  "+1\\.50 +40\\.0 +9\\.00 +8\\.00 +19\\.0\n"));
  EXPECT_THAT(text, ContainsRegex("gpu, cold +1000 +125 .* +2000 +90\\.0 +80\\.0 +190\n"));
  EXPECT_THAT(text, Not(HasSubstr("fast"))); // of rows on a device only
}

TEST(DeviceReport, SpeedupsAgainstTheBaselineAndTheBestCpu) {
  const std::string text = format_speedups(gpu_result());
  EXPECT_THAT(text, ContainsRegex("gpu +slow +125x +100x +30\\.0x +0\\.500x\n"));
  EXPECT_THAT(text, ContainsRegex("gpu +fast +12\\.5x +10\\.0x +- +0\\.500x\n"));
}

TEST(DeviceReport, TheBaselineIsNotListedTwice) {
  ComparisonResult result = gpu_result();
  result.baseline = "fast";
  const std::string text = format_speedups(result);
  EXPECT_EQ(text.find("fast"), text.rfind("fast"));
}

TEST(DeviceReport, SaysWhatPinningCostAndFromWhenItPays) {
  ComparisonResult result = gpu_result();
  result.transfers = TransferStudy{.backend = "gpu",
                                   .transfer = Transfer::pinned,
                                   .bytes = 4'000'000,
                                   .setup_seconds = 3e-3,
                                   .pageable = {.h2d = 1e-3, .d2h = 2e-3},
                                   .chosen = {.h2d = 0.2e-3, .d2h = 0.4e-3}};
  const std::string text = format_tables(result);
  EXPECT_THAT(text, ContainsRegex("pageable +1\\.00 ms +2\\.00 ms +4\\.00 +2\\.00\n"));
  EXPECT_THAT(text, ContainsRegex("pinned +200 us +400 us +20\\.0 +10\\.0\n"));
  EXPECT_THAT(text, HasSubstr("pinned memory cost 3.00 ms once and saves 2.40 ms a trip up and "
                              "back (gpu), so it pays from 2 trips on\n"));
  result.transfers->chosen = {.h2d = 2e-3, .d2h = 2e-3};
  EXPECT_THAT(format_transfers(result), HasSubstr("loses 1.00 ms a trip up and back (gpu), so it "
                                                  "never pays\n"));
}

TEST(DeviceReport, OneSentenceOnItsWorth) {
  const std::string text = verdict(gpu_result());
  EXPECT_THAT(text, HasSubstr("gpu on Test GPU is the fastest verified row"));
  EXPECT_THAT(
      text,
      HasSubstr("Against fast, gpu is 12.5 times as fast by its kernels alone, "
                "2.00 times slower in a cold run; a run of its own pays from 1212 iterations on."));
}

TEST(DeviceReport, AGpuRowHasNoShareOfTheHostsCopyAndNoThreads) {
  EXPECT_THAT(format_tables(gpu_result()), ContainsRegex("\ngpu +- +100 us +[^ ]+ % .* - +100x"));
}

TEST(DeviceReport, AnEmulatedRowIsVerifiedNotTimed) {
  ComparisonResult result = sample_result();
  Row row;
  row.name = "gpu";
  row.device = DeviceKind::emulated;
  row.verification = Verification{.bitwise = true, .steps = 100};
  result.rows.push_back(row);
  const std::string text = format_tables(result);
  EXPECT_THAT(text, ContainsRegex("gpu +-( +-){8} +yes\n"));
  EXPECT_THAT(text, HasSubstr("emulated: gpu: verified, not timed"));
}

TEST(DeviceReport, WithoutAGpuRowThereIsNothing) {
  const ComparisonResult result = sample_result();
  EXPECT_EQ(format_ledger(result) + format_speedups(result) + format_transfers(result) +
                device_verdict(result),
            "");
}

} // namespace
} // namespace diffbench::bench
