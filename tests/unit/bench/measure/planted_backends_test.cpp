// SPDX-License-Identifier: Apache-2.0
// Backends that are wrong are not timed in the main job, whatever its own field says of them; those
// that are right are, and one that rounds differently where the user allows that.
#include "diffbench/registry.hpp"
#include "first_runs.hpp"
#include "planted_session.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace diffbench::bench {
namespace {

using conformance::Plant;

// Of the main job all but the number of steps: a heat that has a way of 200 cells to go reaches no
// edge in 10 steps, nor in 1000. tests/cli/planted_backends_test.py makes them all.
constexpr std::int64_t iterations = 10;

template <Plant plant>
PlannedRow planted() {
  PlannedRow planned;
  planned.backend = conformance::planted_backend<plant>();
  return planned;
}

/// What the comparison makes of a row before it would be timed.
template <typename T>
Row proved(const PlannedRow& planned, const RunPlan& run) {
  Field<T> field(run.problem.nx, run.problem.ny);
  FirstRuns<T> first_runs(run, field, nobody());
  first_runs.compute_reference(1e9, [](double) {});
  SolveContender<T> contender;
  contender.row.name = planned.row_name();
  contender.timed =
      std::make_unique<TimedSession<T>>(planned, run.problem, std::as_const(field).cells());
  first_runs.measure(contender, {.run_seconds = 1e9, .row_seconds = 0});
  first_runs.prove(contender);
  EXPECT_EQ(contender.timed != nullptr, contender.row.verified());
  return std::move(contender.row);
}

Row proved(const PlannedRow& planned, std::int64_t tolerance_ulps = 0) {
  RunPlan run;
  run.iterations = iterations;
  run.tolerance_ulps = tolerance_ulps;
  return proved<float>(planned, run);
}

/// In its field, after so few steps.
bool shows_in_the_run(std::string_view plant) {
  return plant == "wrong_buffer" || plant == "contract" || plant == "other_order";
}

class PlantedBackend : public testing::TestWithParam<BackendInfo> {};

TEST_P(PlantedBackend, IsRefused) {
  PlannedRow planned;
  planned.backend = GetParam();
  const Row row = proved(planned);
  ASSERT_TRUE(row.verification.has_value());
  EXPECT_TRUE(row.wrong());
  EXPECT_EQ(row.verification->difference.has_value(), shows_in_the_run(GetParam().name));
  ASSERT_TRUE(row.verification->fields.has_value());
  EXPECT_TRUE(row.verification->fields->wrong.has_value());
}

INSTANTIATE_TEST_SUITE_P(Plants, PlantedBackend, testing::ValuesIn(conformance::planted_backends()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ProvedBackend, IsNotRefused) {
  EXPECT_TRUE(proved(planted<Plant::none>()).verification->bitwise);
  RunPlan run;
  run.problem.nx = 70;
  run.problem.ny = 48;
  run.iterations = iterations;
  for (const BackendInfo& backend : all_backends()) {
    if (backend.device != DeviceKind::cpu || backend.teaching || !backend.probe(0).available) {
      continue;
    }
    PlannedRow planned;
    planned.backend = backend;
    run.problem.dtype = Dtype::float32;
    const Row single = proved<float>(planned, run);
    EXPECT_TRUE(single.verification->bitwise) << backend.name;
    EXPECT_GT(single.verification->fields->count, 40) << backend.name;
    EXPECT_EQ(single.verification->fields->grids.back(), "70x48");
    run.problem.dtype = Dtype::float64;
    EXPECT_TRUE(proved<double>(planned, run).verification->bitwise) << backend.name;
  }
}

TEST(ProvedBackend, ToleranceIsForRoundingOnly) {
  const Row strict = proved(planted<Plant::other_order>());
  ASSERT_TRUE(strict.wrong());
  EXPECT_TRUE(strict.verification->fields->wrong->difference.is_rounding(1));
  const Row allowed = proved(planted<Plant::other_order>(), 64);
  EXPECT_TRUE(allowed.verified());
  EXPECT_FALSE(allowed.verification->bitwise);
  EXPECT_GE(allowed.verification->within_ulps, 1);
  EXPECT_LE(allowed.verification->within_ulps, 64);

  const Row fault = proved(planted<Plant::no_wrap>(), 64);
  ASSERT_TRUE(fault.wrong());
  EXPECT_FALSE(fault.verification->fields->wrong->difference.within_rounding(1));
  EXPECT_EQ(fault.verification->fields->wrong->difference.place, FieldPlace::edges);
}

TEST(ProvedBackend, AFaultIsPlaced) {
  const auto place = [](const PlannedRow& planned) {
    return proved(planned).verification->fields->wrong->difference;
  };
  EXPECT_EQ(place(planted<Plant::top_not_wrapped>()).place, FieldPlace::top);
  EXPECT_EQ(place(planted<Plant::right_not_wrapped>()).place, FieldPlace::right);
  const Difference corner = place(planted<Plant::wrong_corner>());
  EXPECT_EQ(corner.place, FieldPlace::corner);
  EXPECT_EQ(corner.x, 66);
  EXPECT_EQ(corner.y, 18);
  EXPECT_EQ(place(planted<Plant::last_odd_row>()).place, FieldPlace::bottom);
  EXPECT_EQ(place(planted<Plant::contract>()).place, FieldPlace::everywhere);
}

} // namespace
} // namespace diffbench::bench
