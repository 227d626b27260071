// SPDX-License-Identifier: Apache-2.0
#include "transfer/transfer_report.hpp"

#include "json.hpp"
#include "sample_transfer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;

TEST(TransferJsonTest, FiguresFollowFromTheSamples) {
  const ordered_json json = json_of(to_json(sample_transfer()));
  const ordered_json& point = json["host"]["curves"][0]["points"][1];
  EXPECT_EQ(point["bytes"], 4096);
  EXPECT_NEAR(point["seconds_per_copy"].get<double>(), 4096 / 20e9, 1e-15);
  EXPECT_NEAR(point["bytes_per_second"].get<double>(), 20e9, 1);
  EXPECT_EQ(point["copies_per_sample"], 100);
  EXPECT_EQ(point["samples_seconds"].size(), 3U);
  EXPECT_EQ(json_of(copy_lines(sample_transfer())).size(), (5 + 6) * 11U);
  const ordered_json& fit = json["device"]["fits"][1];
  EXPECT_EQ(fit["way"], "pinned");
  EXPECT_NEAR(fit["latency_seconds"].get<double>(), 8e-6, 1e-9);
  EXPECT_NEAR(fit["bytes_per_second"].get<double>(), 25e9, 1e6);
}

TEST(TransferJsonTest, EverySampleIsAnEntry) {
  const TransferResult result = sample_transfer();
  const std::vector<SampleSeries> series = sample_series(result);
  EXPECT_EQ(series.size(), (5 + 6) * 11U);
  EXPECT_EQ(series[33].name, "transfer/host/memcpy/1024/threads:8");
  EXPECT_EQ(series[0].name, "transfer/host/loop/1024");
  EXPECT_EQ(series[33].threads, 8);
  EXPECT_EQ(series[33].samples.size(), 3U);
  EXPECT_EQ(series[33].per_iteration[0].second, 1024);
}

} // namespace
} // namespace diffbench::bench
