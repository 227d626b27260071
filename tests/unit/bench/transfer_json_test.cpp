#include "transfer_json.hpp"

#include "diffbench/errors.hpp"
#include "sample_transfer.hpp"
#include "transfer_figures.hpp"
#include "transfer_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

TEST(TransferJsonTest, WhatIsWrittenIsWhatIsRead) {
  const TransferResult result = sample_transfer();
  const TransferResult again = transfer_from_json(ordered_json::parse(to_json(result).dump()));
  EXPECT_EQ(to_json(again), to_json(result));
  EXPECT_EQ(format_transfer(again), format_transfer(result));
  EXPECT_EQ(transfer_sentence(again), transfer_sentence(result));
}

TEST(TransferJsonTest, AMachineWithoutAGpuHasItsReason) {
  TransferResult result = sample_transfer();
  result.device.reset();
  result.no_device = "no driver";
  const TransferResult again = transfer_from_json(to_json(result));
  EXPECT_FALSE(again.device);
  EXPECT_THAT(format_transfer(again), HasSubstr("no driver"));
}

TEST(TransferJsonTest, FiguresFollowFromTheSamples) {
  const ordered_json json = to_json(sample_transfer());
  const ordered_json& point = json["host"]["curves"][0]["points"][1];
  EXPECT_EQ(point["bytes"], 4096);
  EXPECT_NEAR(point["seconds_per_copy"].get<double>(), 4096 / 20e9, 1e-15);
  EXPECT_NEAR(point["bytes_per_second"].get<double>(), 20e9, 1);
  EXPECT_EQ(point["copies_per_sample"], 100);
  EXPECT_EQ(point["samples_seconds"].size(), 3U);
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

/// Each change to a good file, and a word of the complaint.
TEST(TransferJsonTest, WhatIsNoResultIsRefused) {
  struct Case {
    std::function<void(ordered_json&)> spoil;
    const char* complaint;
  };
  const auto point = [](ordered_json& json) -> ordered_json& {
    return json["host"]["curves"][0]["points"][0];
  };
  const Case cases[] = {
      {[](ordered_json& json) { json = 3; }, "number"},
      {[](ordered_json& json) { json = ordered_json::array(); }, "array"},
      {[](ordered_json& json) { json.erase("host"); }, "host"},
      {[](ordered_json& json) { json["host"].erase("caches"); }, "caches"},
      {[](ordered_json& json) { json["host"]["caches"]["l2"] = 0; }, "whole number"},
      {[](ordered_json& json) { json["host"]["threads"] = 1'000'000'000; }, "whole number"},
      {[](ordered_json& json) { json["host"]["curves"] = "many"; }, "string"},
      {[](ordered_json& json) { json["device"]["link"] = nullptr; }, "null"},
      {[](ordered_json& json) { json["device"]["pinning"][0].erase("lock_seconds"); }, "lock"},
      {[](ordered_json& json) { json["device"]["name"] = 7; }, "string"},
      {[&](ordered_json& json) { point(json)["bytes"] = -1; }, "-1 is no whole number"},
      {[&](ordered_json& json) { point(json)["bytes"] = 1.5; }, "whole number"},
      {[&](ordered_json& json) { point(json)["verified"] = "yes"; }, "boolean"},
      {[&](ordered_json& json) { point(json)["copies_per_sample"] = 0; }, "whole number"},
      {[&](ordered_json& json) { point(json)["samples_seconds"][1] = nullptr; }, "null"},
      {[&](ordered_json& json) { point(json)["samples_rounds"].erase(1); }, "index"},
      {[&](ordered_json& json) { point(json)["samples_seconds"][1] = 0; }, "no time"},
      {[&](ordered_json& json) { point(json)["samples_seconds"][1] = -2.0; }, "no time"},
  };
  for (const Case& each : cases) {
    ordered_json json = to_json(sample_transfer());
    each.spoil(json);
    try {
      (void)transfer_from_json(json);
      ADD_FAILURE() << "accepted; expected: " << each.complaint;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(each.complaint));
      EXPECT_THAT(error.what(), Not(HasSubstr("json.exception")));
    }
  }
}

TEST(TransferJsonTest, AFileCannotSteerTheTerminal) {
  ordered_json json = to_json(sample_transfer());
  json["device"]["name"] = "\x1b[2J\nGPU";
  EXPECT_EQ(transfer_from_json(json).device->name.find_first_of("\x1b\n"), std::string::npos);
}

} // namespace
} // namespace diffbench::bench
