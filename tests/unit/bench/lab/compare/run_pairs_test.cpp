// SPDX-License-Identifier: Apache-2.0
#include "compare/run_pairs.hpp"

#include "json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A run of one row, `seconds` a step, without any scatter.
NamedRun run(const std::string& date, const std::string& host, double seconds, int nx = 64) {
  ordered_json row{{"backend", "simd"},
                   {"device", "cpu"},
                   {"iterations_per_sample", 10},
                   {"samples_seconds", std::vector<double>(5, 10 * seconds)}};
  return {.name = date,
          .run = recorded_run(
              {{"context", {{"date", date}, {"host_name", host}}},
               {"benchmarks", ordered_json::array()},
               {"diffbench", {{"problem", {{"nx", nx}}}, {"results", {std::move(row)}}}}})};
}

std::vector<std::pair<std::size_t, std::size_t>> places(const std::vector<NamedRun>& runs) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const RunPair& pair : pairs_in_time(runs)) {
    places.emplace_back(pair.old_run, pair.new_run);
  }
  return places;
}

TEST(RunPairs, FollowTheDatesInUtcNotTheOrderOfFiles) {
  EXPECT_THAT(places({run("2026-05-01T11:00:00+0000", "a", 1),
                      run("2026-05-01T12:00:00+0200", "a", 1),  // 10:00 in UTC
                      run("2026-05-01T05:30:00-05:00", "a", 1), // 10:30
                      run("no date", "a", 1)}),
              ElementsAre(Pair(3, 1), Pair(1, 2), Pair(2, 0)));
}

TEST(RunPairs, HaveTheVerdictOfCompare) {
  const auto pairs = pairs_in_time(std::vector{run("2026-01-02T00:00:00+0000", "a", 2),
                                               run("2026-01-01T00:00:00+0000", "a", 1)});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_TRUE(pairs[0].same_machine);
  const ordered_json said = json_of(pairs[0].report.data);
  EXPECT_EQ(said["old"], "2026-01-01T00:00:00+0000");
  EXPECT_EQ(said["rows"][0]["verdict"], "SLOWER");
  EXPECT_DOUBLE_EQ(said["rows"][0]["ratio"].get<double>(), 2);
}

TEST(RunPairs, LeaveOutRunsOfAnotherProblem) {
  EXPECT_THAT(
      places({run("2026-01-01T00:00:00+0000", "a", 1), run("2026-01-02T00:00:00+0000", "a", 1, 128),
              run("2026-01-03T00:00:00+0000", "a", 1)}),
      ElementsAre(Pair(0, 2)));
  EXPECT_THAT(places({run("2026-01-01T00:00:00+0000", "a", 1, 32)}), IsEmpty());
}

TEST(RunPairs, HaveEqualSettingsOnOneMachine) {
  const auto of_iterations = [](const std::string& date, const std::string& host, int iterations) {
    NamedRun made = run(date, host, 1);
    made.run.problem.emplace_back("iterations", std::to_string(iterations));
    return made;
  };
  EXPECT_THAT(places({of_iterations("2026-01-01T00:00:00+0000", "a", 100),
                      of_iterations("2026-01-02T00:00:00+0000", "a", 200),
                      of_iterations("2026-01-03T00:00:00+0000", "a", 100),
                      of_iterations("2026-01-04T00:00:00+0000", "b", 300)}),
              ElementsAre(Pair(0, 2), Pair(2, 3)));
}

TEST(RunPairs, OfTwoMachinesTheNewestRunsAreOne) {
  const std::vector<NamedRun> runs{
      run("2026-01-01T00:00:00+0000", "a", 1), run("2026-01-02T00:00:00+0000", "b", 1),
      run("2026-01-03T00:00:00+0000", "a", 1), run("2026-01-04T00:00:00+0000", "b", 1)};
  EXPECT_THAT(places(runs), ElementsAre(Pair(0, 2), Pair(1, 3), Pair(2, 3)));
  const auto pairs = pairs_in_time(runs);
  EXPECT_FALSE(pairs.back().same_machine);
  EXPECT_THAT(pairs.back().report.notes,
              testing::Contains(testing::HasSubstr("which may explain a ratio")));
}

} // namespace
} // namespace diffbench::bench
