// SPDX-License-Identifier: Apache-2.0
#include "try/grade/rubric.hpp"

#include "report_json.hpp"
#include "try/device_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;

/// Right, in CUDA, with nothing to complain of.
Graded right_kernel() {
  Graded graded;
  graded.name = "a.cu";
  graded.fate = Graded::Fate::tried;
  graded.language = Language::cuda;
  graded.right = true;
  graded.races = 0;
  graded.leaks = 0;
  graded.launches = 1;
  graded.resident = true;
  return graded;
}

/// Right, in C, and NumPy takes from `low` to `high` times as long.
Graded right_loop(double low, double high) {
  Graded graded;
  graded.fate = Graded::Fate::tried;
  graded.language = Language::c;
  graded.right = true;
  graded.timed = true;
  graded.paces = {{.row = "numpy",
                   .times = {.value = (low + high) / 2, .interval = Interval{low, high, 0.99}}}};
  return graded;
}

std::vector<Mark> marks_of(const Graded& graded, const Rubric& rubric = default_rubric()) {
  std::vector<Mark> marks;
  for (const MarkedCriterion& each : grade_by(rubric, graded).criteria) {
    marks.push_back(each.mark);
  }
  return marks;
}

TEST(Rubric, JudgesWhatADeviceFindsOfCudaAlone) {
  using enum Mark;
  EXPECT_THAT(marks_of(right_kernel()), ElementsAre(met, met, met, met, not_judged));
  EXPECT_EQ(grade_by(default_rubric(), right_kernel()).points, 10);
  EXPECT_EQ(grade_by(default_rubric(), right_kernel()).of, 10);
  EXPECT_THAT(marks_of(right_loop(2, 3)),
              ElementsAre(met, not_judged, not_judged, not_judged, met));
  EXPECT_EQ(grade_by(default_rubric(), right_loop(2, 3)).of, 7);

  Graded faulty = right_kernel();
  faulty.right = false;
  faulty.races = 2;
  EXPECT_THAT(marks_of(faulty), ElementsAre(missed, missed, met, met, not_judged));
  faulty.leaks = 1;
  faulty.resident = false;
  EXPECT_THAT(marks_of(faulty), ElementsAre(missed, missed, missed, missed, not_judged));
}

TEST(Rubric, GivesNothingForWhatDoesNotRun) {
  using enum Mark;
  Graded idle = right_kernel();
  idle.right = false;
  idle.launches = 0;
  EXPECT_THAT(marks_of(idle), ElementsAre(missed, missed, missed, missed, not_judged));
  const Graded refused =
      not_tried("a.cu", Language::cuda, Graded::Fate::refused, "it does not compile");
  EXPECT_EQ(grade_by(default_rubric(), refused).points, 0);
  const Graded lacking = not_tried("a.cu", Language::cuda, Graded::Fate::lacking, "no compiler");
  EXPECT_TRUE(grade_by(default_rubric(), lacking).criteria.empty());
  Graded not_finished = right_kernel();
  not_finished.fate = Graded::Fate::undecided;
  EXPECT_TRUE(grade_by(default_rubric(), not_finished).criteria.empty());
  EXPECT_FALSE(is_final(not_finished.fate));
}

TEST(Rubric, JudgesATimeOnlyWhereItIsDecided) {
  using enum Mark;
  const auto rubric = [](NotDecided rule) {
    return Rubric{
        .not_decided = rule,
        .criteria = {
            {.kind = Criterion::Kind::faster_than, .points = 4, .row = "numpy", .factor = 2}}};
  };
  const Rubric half = rubric(NotDecided::half);
  EXPECT_THAT(marks_of(right_loop(2.1, 3), half), ElementsAre(met));
  EXPECT_THAT(marks_of(right_loop(1, 1.9), half), ElementsAre(missed));
  EXPECT_THAT(marks_of(right_loop(1.9, 2.1), half), ElementsAre(undecided));
  EXPECT_EQ(grade_by(half, right_loop(1.9, 2.1)).points, 2);
  EXPECT_EQ(grade_by(rubric(NotDecided::all), right_loop(1.9, 2.1)).points, 4);
  EXPECT_EQ(grade_by(rubric(NotDecided::none), right_loop(1.9, 2.1)).points, 0);
  EXPECT_EQ(grade_by(half, right_loop(1.9, 2.1)).of, 4);

  Graded beside_others = right_loop(2.1, 3);
  beside_others.disturbed = true;
  EXPECT_THAT(marks_of(beside_others, half), ElementsAre(undecided));
  Graded few_samples = right_loop(2.1, 3);
  few_samples.paces.front().times.interval.reset();
  EXPECT_THAT(marks_of(few_samples, half), ElementsAre(undecided));
  Graded wrong = right_loop(2.1, 3);
  wrong.right = false;
  EXPECT_THAT(marks_of(wrong, half), ElementsAre(missed));
  Graded without_numpy = right_loop(2.1, 3);
  without_numpy.paces.clear();
  EXPECT_THAT(marks_of(without_numpy, half), ElementsAre(not_judged));
  Graded untimed = wrong;
  untimed.timed = false;
  EXPECT_THAT(marks_of(untimed, half), ElementsAre(not_judged));
}

Value counted(std::int64_t copies, std::int64_t waits, std::int64_t managed) {
  return {{"copies",
           {{"to_device", {{"pageable", {{"calls", copies}}}}},
            {"to_host", {{"pageable", {{"calls", copies}}}}}}},
          {"waits", waits},
          {"allocations", {{"managed", {{"calls", managed}}}}},
          {"kernels", Value::list({Value{{"launches", 7}}})}};
}

TEST(DeviceCosts, LeaveOutWhatARunDoesOnce) {
  const Value none = Value::object();
  const auto resident = device_costs(
      {{.cells = 6, .steps = 2, .before = none, .after = counted(1, 2, 0)},
       {.cells = 6, .steps = 12, .before = counted(1, 2, 0), .after = counted(2, 4, 0)}});
  ASSERT_TRUE(resident);
  EXPECT_EQ(resident->copies, 0);
  EXPECT_TRUE(is_resident(*resident));
  EXPECT_THAT(cost_notes(*resident), ElementsAre());

  const auto each_step =
      device_costs({{.cells = 6, .steps = 2, .before = none, .after = counted(2, 0, 0)},
                    {.cells = 9, .steps = 50, .before = none, .after = counted(1, 0, 0)},
                    {.cells = 6, .steps = 12, .before = none, .after = counted(12, 0, 0)}});
  ASSERT_TRUE(each_step);
  EXPECT_EQ(each_step->copies, 2);
  EXPECT_FALSE(is_resident(*each_step));
  EXPECT_THAT(cost_notes(*each_step), ElementsAre(testing::HasSubstr("copies: 2 a step")));

  const auto visited =
      device_costs({{.cells = 6, .steps = 2, .before = none, .after = counted(0, 2, 2)},
                    {.cells = 6, .steps = 12, .before = none, .after = counted(0, 12, 2)}});
  ASSERT_TRUE(visited);
  EXPECT_FALSE(is_resident(*visited));
  EXPECT_THAT(cost_notes(*visited),
              ElementsAre(testing::HasSubstr("the host waits 1 times a step")));
}

TEST(DeviceCosts, AreNoneWithoutADeviceOrOfOneLength) {
  EXPECT_FALSE(device_costs({}));
  EXPECT_FALSE(device_costs({{.cells = 6, .steps = 2, .before = {}, .after = {}}}));
  const Value counts = counted(1, 1, 0);
  EXPECT_FALSE(device_costs({{.cells = 6, .steps = 2, .before = counts, .after = counts}}));
}

} // namespace
} // namespace diffbench::bench
