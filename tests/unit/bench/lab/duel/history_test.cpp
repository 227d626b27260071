// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

HistoryEntry entry_of_work(const std::optional<StepWork>& work) {
  return {.row = {.a = "fused", .b = "simd", .label = "", .work = work, .host = "h", .cpu = "c"},
          .date = "2026-11-25T00:00:00+0000",
          .blocks = 10,
          .a_seconds = 1,
          .b_seconds = 1.5,
          .ratio = {.value = 1.5, .interval = Interval{1.4, 1.6, 0.99}},
          .verdict = "SLOWER"};
}

TEST(DuelHistory, HasARowForEachWorkOfASample) {
  const StepWork work{.nx = 64, .ny = 32, .iterations = 10, .threads = 2};
  std::vector<HistoryEntry> entries{entry_of_work(std::nullopt), entry_of_work(work)};
  for (const auto change :
       {+[](StepWork& w) { w.nx = 65; }, +[](StepWork& w) { w.ny = 33; },
        +[](StepWork& w) { w.iterations = 11; }, +[](StepWork& w) { w.dtype = Dtype::float64; },
        +[](StepWork& w) { w.threads = 1; }, +[](StepWork& w) { w.threads.reset(); }}) {
    StepWork other = work;
    change(other);
    entries.push_back(entry_of_work(other));
  }
  const TemporaryDirectory place;
  append_history(place.path() / "h", entries);
  append_history(place.path() / "h", entries);
  const History read = read_history(place.path() / "h");
  EXPECT_EQ(read.cut_off, 0);
  ASSERT_EQ(read.entries.size(), 2 * entries.size());
  std::set<HistoryRow> rows;
  for (const HistoryEntry& entry : read.entries) {
    rows.insert(entry.row);
  }
  EXPECT_EQ(rows.size(), entries.size());
  EXPECT_EQ(read.entries[1].row.work, work);
}

TEST(DuelHistory, IsInTimeWhateverTheOrderOfItsLines) {
  std::vector<HistoryEntry> entries;
  for (const auto& [date, blocks] : std::vector<std::pair<std::string, int>>{
           {"2026-11-25T12:00:00+0000", 4},
           {"2026-11-25T12:30:00+02:00", 3}, // 10:30 in UTC
           {"2026-11-25T05:00:00+00:00", 1},
           {"yesterday", 2},                 // after the line before
           {"2026-11-25T12:00:00+00:00", 5}, // the same moment as the first: after it
           {"2026-11-25T23:00:00-0200", 7},
           {"2026-11-26T00:59:59Z", 6}}) {
    entries.push_back(entry_of_work(std::nullopt));
    entries.back().date = date;
    entries.back().blocks = blocks;
  }
  const TemporaryDirectory place;
  append_history(place.path() / "h", entries);
  const History read = read_history(place.path() / "h");
  std::vector<std::int64_t> order;
  for (const HistoryEntry& entry : read.entries) {
    order.push_back(entry.blocks);
  }
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(DuelHistory, HasTheCommitsButOneRowOfTheSameWords) {
  std::vector<HistoryEntry> entries{entry_of_work(std::nullopt), entry_of_work(std::nullopt)};
  entries[1].commits = {"1234", "5678"};
  const TemporaryDirectory place;
  append_history(place.path() / "h", entries);
  const History read = read_history(place.path() / "h");
  ASSERT_EQ(read.entries.size(), 2);
  EXPECT_TRUE(read.entries[0].commits.empty());
  EXPECT_EQ(read.entries[1].commits, entries[1].commits);
  EXPECT_EQ(read.entries[0].row, read.entries[1].row);
}

TEST(DuelHistory, WorkIsToldInWords) {
  EXPECT_EQ(to_text({.nx = 64, .ny = 32, .iterations = 10, .threads = 2}),
            "10 steps of 64x32 float32 cells, 2 threads");
  EXPECT_EQ(to_text({.nx = 1, .ny = 2, .iterations = 1, .dtype = Dtype::float64}),
            "1 step of 1x2 float64 cells");
}

} // namespace
} // namespace diffbench::bench
