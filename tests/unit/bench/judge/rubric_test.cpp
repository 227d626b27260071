// SPDX-License-Identifier: Apache-2.0
#include "grade/rubric.hpp"

#include "device_costs.hpp"
#include "report_json.hpp"

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
  graded.launches = 100;
  graded.kernels_write = 1;
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
  idle.kernels_write = 0;
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

TEST(Rubric, WantsKernelsThatDoTheWork) {
  using enum Mark;
  Graded empty_launch = right_kernel(); // the host computes
  empty_launch.launches = 1;
  empty_launch.kernels_write = 0;
  EXPECT_THAT(marks_of(empty_launch), ElementsAre(met, missed, missed, missed, not_judged));
  Graded without_edges = right_kernel(); // of 7 x 5 cells
  without_edges.right = false;
  without_edges.kernels_write = 3.0 * 5 / (7 * 5);
  EXPECT_THAT(marks_of(without_edges), ElementsAre(missed, met, met, met, not_judged));
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

struct Count {
  std::int64_t copies = 0; ///< each way
  std::int64_t moved = 0;  ///< bytes of managed memory, each way
  std::int64_t mapped = 0; ///< bytes read by kernels
  std::int64_t written = 0, shared_written = 0;
};
Value counted(const Count& count) {
  return {{"copies",
           {{"to_device", {{"pageable", {{"calls", count.copies}}}}},
            {"to_host", {{"pageable", {{"calls", count.copies}}}}}}},
          {"migrated", {{"to_device", count.moved}, {"to_host", count.moved}}},
          {"kernels", Value::list({Value{{"launches", 7},
                                         {"bytes_written", count.written},
                                         {"mapped", {{"bytes_read", count.mapped}}},
                                         {"shared_written", count.shared_written}}})}};
}

/// Two runs of a field of 24 bytes, 2 and 12 steps long, from nothing counted.
std::vector<RunCounts> two_runs(const Count& of_short, const Count& of_long) {
  return {{.field_bytes = 24, .steps = 2, .before = Value::object(), .after = counted(of_short)},
          {.field_bytes = 24, .steps = 12, .before = Value::object(), .after = counted(of_long)}};
}

TEST(DeviceCosts, LeaveOutWhatARunDoesOnce) {
  auto runs = two_runs({.copies = 1}, {.copies = 2});
  runs.back().before = counted({.copies = 1});
  const auto resident = device_costs(runs);
  ASSERT_TRUE(resident);
  EXPECT_EQ(resident->copies, 0);
  EXPECT_TRUE(is_resident(*resident));
  EXPECT_THAT(cost_notes(*resident), ElementsAre());

  runs = two_runs({.copies = 2}, {.copies = 12});
  runs.push_back(
      {.field_bytes = 36, .steps = 50, .before = Value::object(), .after = counted({.copies = 1})});
  const auto each_step = device_costs(runs);
  ASSERT_TRUE(each_step);
  EXPECT_EQ(each_step->copies, 2);
  EXPECT_FALSE(is_resident(*each_step));
  EXPECT_THAT(cost_notes(*each_step), ElementsAre(testing::HasSubstr("copies: 2 a step")));
}

TEST(DeviceCosts, KnowWhatTravelsWithoutACopy) {
  const auto visited = device_costs(two_runs({.moved = 2 * 24}, {.moved = 12 * 24}));
  ASSERT_TRUE(visited);
  EXPECT_FALSE(is_resident(*visited));
  EXPECT_THAT(cost_notes(*visited), ElementsAre(testing::HasSubstr("2 times the field moves")));
  // Fetched by the first step, and by the host at the end.
  const auto stays = device_costs(two_runs({.moved = 24}, {.moved = 24}));
  ASSERT_TRUE(stays);
  EXPECT_TRUE(is_resident(*stays));
  EXPECT_THAT(cost_notes(*stays), ElementsAre());

  const auto reached = device_costs(two_runs({.mapped = 2 * 120}, {.mapped = 12 * 120}));
  ASSERT_TRUE(reached);
  EXPECT_FALSE(is_resident(*reached));
  EXPECT_THAT(cost_notes(*reached),
              ElementsAre(testing::HasSubstr("kernels read and write 5 times the field")));
}

TEST(DeviceCosts, KnowHowMuchOfTheFieldKernelsWrite) {
  const auto written = [](const Count& of_short, const Count& of_long) {
    return device_costs(two_runs(of_short, of_long))->written;
  };
  EXPECT_EQ(written({}, {}), 0);
  EXPECT_EQ(written({.written = 2 * 24}, {.written = 12 * 24}), 1);
  EXPECT_EQ(written({.written = 24, .shared_written = 24}, {.written = 24, .shared_written = 264}),
            1); // several steps a launch
}

TEST(DeviceCosts, AreNoneWithoutADeviceOrOfOneLength) {
  EXPECT_FALSE(device_costs({}));
  EXPECT_FALSE(device_costs({{.field_bytes = 24, .steps = 2, .before = {}, .after = {}}}));
  const Value counts = counted({.copies = 1});
  EXPECT_FALSE(device_costs({{.field_bytes = 24, .steps = 2, .before = counts, .after = counts}}));
}

} // namespace
} // namespace diffbench::bench
