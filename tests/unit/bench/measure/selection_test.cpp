// SPDX-License-Identifier: Apache-2.0
// What the rows of a comparison need against what there is.
#include "selection.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace diffbench::bench {
namespace {

constexpr std::int64_t host_bytes = 1000;
constexpr std::int64_t device_bytes = 600;

/// A backend on a device of 1500 bytes.
PlannedRow planned() {
  PlannedRow one;
  one.backend.device = DeviceKind::cuda;
  one.backend.memory_need = [](const Problem&, const SessionOptions&) -> MemoryNeed {
    return {.host = host_bytes, .device = device_bytes};
  };
  one.probe.device = {.name = "Toy GPU", .memory_bytes = 1500, .runtime = "1.0", .driver = "1.0"};
  return one;
}

/// What check_memory() complains about a field of 9 cells; empty: nothing.
std::string complaint(std::int64_t free_on_host, const std::vector<PlannedRow>& planned_rows) {
  Problem problem;
  problem.nx = problem.ny = 3;
  try {
    check_memory(problem, planned_rows, 0, free_on_host);
    return "";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(CheckMemory, SessionsLiveSideBySideOnTheHost) {
  const std::int64_t field = 9 * 4;
  EXPECT_EQ(complaint(2 * host_bytes + field, {planned(), planned()}), "");
  EXPECT_THAT(complaint(2 * host_bytes + field - 1, {planned(), planned()}),
              testing::HasSubstr("needs 1.99 KiB of memory for these backends and 1.99 KiB are"));
}

TEST(CheckMemory, SessionsLiveSideBySideOnTheDevice) {
  EXPECT_EQ(complaint(1 << 20, {planned(), planned()}), "");
  EXPECT_THAT(complaint(1 << 20, {planned(), planned(), planned()}),
              testing::HasSubstr("needs 1.76 KiB of memory for these backends and Toy GPU has "
                                 "1.46 KiB: choose a smaller --grid"));
}

TEST(CheckMemory, WhatCannotRunNeedsNothing) {
  std::vector<PlannedRow> planned_rows(3, planned());
  planned_rows.back().probe = {.available = false, .reason = "no driver"};
  EXPECT_EQ(complaint(1 << 20, planned_rows), "");
}

bool has_teaching_rows(const ComparisonPlan& options) {
  return std::ranges::any_of(select_backends(options),
                             [](const PlannedRow& one) { return one.backend.teaching; });
}

TEST(SelectBackends, ThoseOfTeachingRunWhereTheyAreAskedFor) {
  std::vector<std::string> names;
  for (const BackendInfo& backend : all_backends()) {
    if (backend.teaching) {
      names.emplace_back(backend.name);
    }
  }
  ASSERT_FALSE(names.empty());
  ComparisonPlan options;
  EXPECT_EQ(note_on_left_out(options).value_or(""),
            fmt::format("left out, because it is slow and for teaching: {} (--all)",
                        fmt::join(names, ", ")));
  EXPECT_FALSE(has_teaching_rows(options));
  options.backends = {"scalar"}; // nobody expects them there
  EXPECT_FALSE(note_on_left_out(options));
  EXPECT_FALSE(has_teaching_rows(options));

  ComparisonPlan all;
  all.all_backends = true;
  ComparisonPlan named;
  named.backends = names;
  ComparisonPlan baseline;
  baseline.baseline = names.front();
  for (const ComparisonPlan& asking : {all, named, baseline}) {
    EXPECT_TRUE(has_teaching_rows(asking));
    EXPECT_FALSE(note_on_left_out(asking));
  }
}

// Only the first one starts a driver.
TEST(SelectBackends, TheFirstProbeOfAProcessIsWhatProbingTakes) {
  const std::vector<PlannedRow> first = select_backends({});
  const std::vector<PlannedRow> again = select_backends({});
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_GT(first[i].probe_seconds, 0);
    EXPECT_EQ(first[i].probe_seconds, again[i].probe_seconds);
  }
}

} // namespace
} // namespace diffbench::bench
