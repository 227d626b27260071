// SPDX-License-Identifier: Apache-2.0
// The model behind advise, its profile, and what is made of them.
#include "advice/advice.hpp"
#include "advice/calibration.hpp"
#include "advice/cost_profile.hpp"
#include "advice/prediction_check.hpp"
#include "json.hpp"

#include "diffbench/errors.hpp"
#include "fake_clock.hpp"
#include "result_file.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

/// A way whose parts are known: 1 us a call, 1 ns a cell and step, copies of 2 and 3 ns a cell.
WayCost plain_way(DeviceKind device = DeviceKind::cpu, double cell_seconds = 1e-9,
                  double copy = 1) {
  WayCost way{.backend = std::string(to_string(device)) + "_way",
              .device = device,
              .dtype = "float32",
              .grids = {}};
  for (const std::int64_t side : {64, 256, 1024}) {
    const auto cells = static_cast<double>(side * side);
    GridCost grid{.side = side,
                  .setup_seconds = copy * 10e-9 * cells,
                  .copy_in_seconds = copy * 2e-9 * cells,
                  .copy_out_seconds = copy * 3e-9 * cells,
                  .steps = {}};
    for (const std::int64_t steps : {1, 4, 64}) {
      grid.steps.push_back({steps, cell_seconds * cells * static_cast<double>(steps)});
    }
    way.grids.push_back(grid);
  }
  return way;
}

// --- the model -----------------------------------------------------------------------------------

TEST(CostModel, CopiesCutARunIntoStretches) {
  const WayCost way = plain_way(DeviceKind::cuda);
  const double cells = 256 * 256;
  const double round_trip = 5e-9 * cells;
  const auto predicted = [&](double copies) {
    return predict(way, {.cells = cells, .iterations = 100, .copies_per_step = copies});
  };
  EXPECT_NEAR(predicted(2).warm_seconds, 100 * (round_trip + 1e-9 * cells), 1e-9);
  EXPECT_NEAR(predicted(0.2).warm_seconds, 10 * round_trip + 100e-9 * cells, 1e-9);
  EXPECT_NEAR(predicted(0).warm_seconds, round_trip + 100e-9 * cells, 1e-9);
  EXPECT_DOUBLE_EQ(predicted(0.02).warm_seconds, predicted(0).warm_seconds); // one round trip
}

TEST(Advice, SaysHowLongTheFieldMustStay) {
  // A step takes 1 ns a cell there and 3 here, and a round trip 5: it pays from 3 steps on.
  const std::vector ways{plain_way(DeviceKind::cpu, 3e-9), plain_way(DeviceKind::cuda)};
  const RunShape run{.cells = 256 * 256, .iterations = 1000};
  EXPECT_EQ(advise(ways, run).warm.stay, 3);
  const std::vector slower{plain_way(DeviceKind::cpu, 0.5e-9), plain_way(DeviceKind::cuda)};
  EXPECT_FALSE(advise(slower, run).warm.stay);
}

TEST(CostModel, TakesCallsAsStraightBetweenThoseMeasured) {
  const GridCost grid{.side = 64, .steps = {{1, 10}, {4, 13}, {64, 73}}};
  EXPECT_DOUBLE_EQ(steps_seconds(grid, 1), 10);
  EXPECT_DOUBLE_EQ(steps_seconds(grid, 2), 11);
  EXPECT_DOUBLE_EQ(steps_seconds(grid, 64), 73);
  EXPECT_DOUBLE_EQ(steps_seconds(grid, 1000), 73 + 936);
  // The last interval alone would say that 36 more steps take no time.
  const GridCost odd{.side = 64, .steps = {{1, 10}, {4, 13}, {28, 61}, {64, 61}}};
  EXPECT_DOUBLE_EQ(steps_seconds(odd, 64), 61);
  EXPECT_DOUBLE_EQ(steps_seconds(odd, 124), 13 + 120 * 0.8);
  const GridCost disturbed{.side = 64, .steps = {{1, 10}, {4, 5}}};
  EXPECT_DOUBLE_EQ(steps_seconds(disturbed, 1000), 10); // more steps never take less
}

TEST(CostModel, FollowsAPowerOfTheCellsBetweenGridsAndBeyond) {
  const WayCost way = plain_way();
  for (const double side : {64.0, 100.0, 256.0, 700.0, 1024.0, 8192.0}) {
    const double cells = side * side;
    const Prediction prediction = predict(way, {.cells = cells, .iterations = 10});
    EXPECT_NEAR(prediction.steps_seconds / (10e-9 * cells), 1, 1e-9) << side;
    EXPECT_NEAR(prediction.warm_seconds / (15e-9 * cells), 1, 1e-9) << side;
    EXPECT_NEAR(prediction.cold_seconds / (25e-9 * cells), 1, 1e-9) << side;
    EXPECT_EQ(prediction.beyond, side > 1024) << side;
    EXPECT_FALSE(prediction.below) << side;
  }
  EXPECT_DOUBLE_EQ(predict(way, {.cells = 100, .iterations = 1}).warm_seconds, 6e-9 * 64 * 64);
  EXPECT_TRUE(predict(way, {.cells = 100, .iterations = 1}).below);
}

TEST(CostModel, ChargesEachSnapshotWithACopyAndACall) {
  WayCost way = plain_way();
  for (GridCost& grid : way.grids) {
    for (StepsCost& cost : grid.steps) {
      cost.seconds += 1e-3; // a call
    }
  }
  const RunShape run{.cells = 64 * 64, .iterations = 25, .snapshot_every = 10};
  const double cells = 64 * 64;
  const Prediction prediction = predict(way, run);
  EXPECT_NEAR(prediction.steps_seconds, 25e-9 * cells + 3e-3, 1e-12); // 10, 10, 5
  EXPECT_NEAR(prediction.snapshot_seconds, 2 * 3e-9 * cells, 1e-12);
  EXPECT_NEAR(prediction.warm_seconds, prediction.steps_seconds + (5 + 2 * 3) * 1e-9 * cells,
              1e-12);
}

TEST(CostModel, StretchesOfARunTakeNoLessThanOneCallOfAll) {
  // The first steps are cheap, those after the tenth take ten times as long.
  const WayCost way{
      .backend = "a",
      .device = DeviceKind::cpu,
      .dtype = "float32",
      .grids = {
          {.side = 64, .setup_seconds = 0.5, .steps = {{1, 1}, {10, 10}, {20, 110}, {30, 210}}}}};
  const RunShape plain{.cells = 64 * 64, .iterations = 30};
  RunShape filmed = plain;
  filmed.snapshot_every = 5;
  EXPECT_DOUBLE_EQ(predict(way, plain).steps_seconds, 210);
  EXPECT_DOUBLE_EQ(predict(way, filmed).steps_seconds, 210);
  EXPECT_DOUBLE_EQ(predict(way, plain).cold_seconds, 210.5); // as 1, 3, 12 and 14 steps: 104
}

TEST(CostModel, OfTwoCalibrationsTheLowerTimesCount) {
  const GridCost grid{.side = 64,
                      .copy_in_seconds = 1,
                      .copy_out_seconds = 4,
                      .steps = {{1, 10}, {4, 13}, {8, 17}},
                      .cold_seconds = 30};
  const GridCost again{.side = 64,
                       .copy_in_seconds = 2,
                       .copy_out_seconds = 2,
                       .steps = {{1, 9}, {4, 14}, {16, 1}},
                       .cold_seconds = 40};
  const GridCost only_once{.side = 128, .setup_seconds = 6, .steps = {{1, 20}, {4, 23}}};
  const GridCost only_again{.side = 100, .setup_seconds = 5, .steps = {{1, 12}, {4, 15}}};
  const WayCost way{
      .backend = "a", .device = DeviceKind::cpu, .dtype = "float32", .grids = {grid, only_once}};
  const WayCost other{
      .backend = "a", .device = DeviceKind::cpu, .dtype = "float32", .grids = {again, only_again}};
  const WayCost both = less_disturbed(way, other);
  ASSERT_EQ(both.grids.size(), 3U);
  EXPECT_EQ(both.grids[0].copy_in_seconds, 1);
  EXPECT_EQ(both.grids[0].copy_out_seconds, 2);
  EXPECT_EQ(steps_seconds(both.grids[0], 1), 9);
  EXPECT_EQ(steps_seconds(both.grids[0], 4), 13);
  EXPECT_EQ(steps_seconds(both.grids[0], 8), 17);
  // Set-up is a difference: the lower of two would be the one whose warm run was disturbed more.
  EXPECT_EQ(both.grids[0].setup_seconds, 30 - 1 - 9 - 2);
  EXPECT_EQ(both.grids[1].side, 100);
  EXPECT_EQ(both.grids[1].setup_seconds, 5);
  EXPECT_EQ(both.grids[2].setup_seconds, 6);
  EXPECT_EQ(steps_seconds(both.grids[2], 1), 20);
}

TEST(CostModel, CallsAreThoseOfTheSameWayAndGrid) {
  const GridCost small{.side = 64, .steps = {{1, 10}, {4, 13}}};
  const GridCost large{.side = 128, .steps = {{1, 10}, {8, 13}, {16, 20}}};
  const WayCost way{
      .backend = "a", .device = DeviceKind::cpu, .dtype = "float32", .grids = {small, large}};
  WayCost other_dtype = way, other_backend = way;
  other_dtype.dtype = "float64";
  other_backend.backend = "b";
  const std::vector<WayCost> ways{other_dtype, way, other_backend};
  EXPECT_THAT(steps_of_calls(ways, way, 128), ElementsAre(1, 8, 16));
  EXPECT_THAT(steps_of_calls(ways, way, 256), ElementsAre());
}

TEST(CostModel, AColdRunBeginsWithShortStretches) {
  EXPECT_THAT(first_run_stretches(1), ElementsAre(1));
  EXPECT_THAT(first_run_stretches(10), ElementsAre(1, 3, 6));
  EXPECT_THAT(first_run_stretches(100), ElementsAre(1, 3, 12, 48, 36));
}

// --- calibration ---------------------------------------------------------------------------------

/// Takes known times on the fake clock; the field it gives back is `result`, once another.
class FakeSolve final : public TimedSolve<float> {
 public:
  /// Notes the steps of its runs from nothing in `asked`; the result of the run before which there
  /// were `right` is wrong.
  FakeSolve(float result, std::vector<std::int64_t>& asked, std::size_t right)
      : result_(result), asked_(asked), right_(right) {}
  FirstRun first_run(std::span<float> field, std::int64_t steps, double) override {
    FirstRun run{.steps = steps,
                 .setup_seconds = 0,
                 .cost = {.reset_seconds = 0, .step_seconds = step},
                 .phases = {}};
    run.phases.wall = setup + in + out;
    for (const std::int64_t stretch : first_run_stretches(steps)) {
      run.phases.wall += call + step * static_cast<double>(stretch);
    }
    FakeClock::seconds += run.phases.wall;
    std::ranges::fill(field, asked_.size() == right_ ? result_ + 1 : result_);
    asked_.push_back(steps);
    return run;
  }
  std::optional<double> release() override {
    FakeClock::seconds += freeing;
    return freeing;
  }
  void fetch(std::span<float>) override {}
  Sample sample(std::int64_t steps) override {
    in_caches_ = false;
    const double seconds = call + step * static_cast<double>(steps);
    FakeClock::seconds += seconds;
    return {.iterations = steps, .seconds = seconds, .cpu_seconds = {}};
  }
  Phases full_run(std::span<float>, std::int64_t) override {
    Phases phases;
    phases.h2d = in_caches_ ? in : 2 * in;
    phases.d2h = out;
    in_caches_ = true;
    return phases;
  }
  [[nodiscard]] Provenance provenance() const override { return {.threads = 3, .details = {}}; }

  static constexpr double call = 1e-5, step = 1e-4, in = 2e-3, out = 3e-3, setup = 0.05,
                          freeing = 0.01;

 private:
  float result_;
  std::vector<std::int64_t>& asked_;
  std::size_t right_;
  bool in_caches_ = false;
};

class CalibrationTest : public testing::Test {
 protected:
  GridCost calibrate(float result, std::size_t right_runs = 1000,
                     const CalibrationEffort& effort = {}) {
    grid_.side = 8;
    grid_.field = field_;
    grid_.refill = [this] { std::ranges::fill(field_, 1.0F); };
    const std::vector<float> right(64, 7.0F);
    const std::string sha256 = sha256_of_cells(std::span<const float>(right));
    grid_.proof = {.steps = 10, .sha256 = sha256};
    grid_.one_step = {.steps = 1, .sha256 = sha256};
    return calibrate_grid<FakeClock>(
        [&] { return std::make_unique<FakeSolve>(result, cold_steps_, right_runs); }, grid_,
        effort);
  }
  std::vector<float> field_ = std::vector<float>(64);
  CalibrationGrid<float> grid_;
  std::vector<std::int64_t> cold_steps_;
};

TEST_F(CalibrationTest, FindsTheParts) {
  const GridCost cost = calibrate(7);
  EXPECT_EQ(cost.side, 8);
  EXPECT_EQ(cost.threads, 3);
  EXPECT_NEAR(cost.copy_in_seconds, FakeSolve::in, 1e-12);
  EXPECT_NEAR(cost.copy_out_seconds, FakeSolve::out, 1e-12);
  EXPECT_NEAR(cost.setup_seconds, FakeSolve::setup + FakeSolve::freeing, 1e-9);
  EXPECT_EQ(cold_runs_of_median(FakeSolve::setup), 3);
  EXPECT_THAT(cold_steps_, ElementsAre(10, 1, 1, 1)); // the proof has no time
  EXPECT_NEAR(steps_seconds(cost, 1000), FakeSolve::call + 1000 * FakeSolve::step, 1e-9);
}

TEST_F(CalibrationTest, MakesTheCallsItIsTold) {
  const GridCost cost = calibrate(7, 1000, {.calls = {1, 5, 2000}});
  ASSERT_EQ(cost.steps.size(), 3U);
  EXPECT_EQ(cost.steps[1].steps, 5);
  EXPECT_EQ(cost.steps[2].steps, 2000);
}

TEST_F(CalibrationTest, RefusesAWrongField) {
  EXPECT_THROW((void)calibrate(6), Error);
  cold_steps_.clear();
  EXPECT_THROW((void)calibrate(7, 2), Error); // of a timed run
  EXPECT_EQ(cold_steps_.size(), 3U);
}

/// The calls of a round in which each takes `call_seconds` and `step_seconds` a step.
std::vector<std::int64_t> calls_of_round(double call_seconds, double step_seconds, double seconds) {
  std::vector<StepsCost> made;
  std::vector<std::int64_t> calls;
  while (const auto steps = next_call(made, seconds)) {
    made.push_back({*steps, call_seconds + step_seconds * static_cast<double>(*steps)});
    calls.push_back(*steps);
  }
  return calls;
}

TEST(Calibration, MeasuresCallsThatFitTheTime) {
  EXPECT_THAT(calls_of_round(0, 1, 0.2), ElementsAre(1, 4)); // the fewest that give a slope
  EXPECT_THAT(calls_of_round(0, 1e-3, 0.2), ElementsAre(1, 4, 8, 16, 32, 64));
  EXPECT_THAT(calls_of_round(0, 1e-6, 0.2), ElementsAre(1, 4, 8, 16, 32, 64, 96, 256, 1024));
  // A dear first step does not keep the longer calls from being measured.
  EXPECT_THAT(calls_of_round(0.01, 1e-6, 0.1), ElementsAre(1, 4, 8, 16, 32, 64, 96, 256));
}

// --- the profile ---------------------------------------------------------------------------------

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() { ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1); }
  ~ProfileTest() override { ::unsetenv("XDG_CACHE_HOME"); }

  void write(const Facts& context, const ordered_json& calibrate) {
    std::filesystem::create_directories(default_profile_path().parent_path());
    std::ofstream(default_profile_path())
        << to_text(result_file(context, {}, {{"schema", 1}, {"calibrate", value_of(calibrate)}}));
  }
  static ordered_json good() {
    return json_of(to_json(CostProfile{.ways = {plain_way()},
                                       .transfer = "pageable",
                                       .machine = "toy",
                                       .date = {},
                                       .foreign = {}}));
  }
  static std::string refusal() {
    try {
      (void)read_own_profile();
      return "accepted";
    } catch (const InvalidInput& error) {
      return error.what();
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(ProfileTest, ComesBackAsItWas) {
  write(run_context(), good());
  const CostProfile profile = read_own_profile();
  EXPECT_EQ(json_of(to_json(profile)), good());
  EXPECT_EQ(profile.foreign, "");
  EXPECT_NE(profile.date, "unknown");
}

TEST_F(ProfileTest, WhereThereIsNoneThatIsKnown) {
  EXPECT_FALSE(has_own_profile());
  EXPECT_THAT(refusal(), HasSubstr("diffbench calibrate"));
  write(run_context(), good());
  EXPECT_TRUE(has_own_profile());
}

TEST_F(ProfileTest, OfAnotherMachineIsTakenOnlyByName) {
  Facts context = run_context();
  for (auto& [name, value] : context) {
    value = name == "cpu_model" ? "Z80" : value;
  }
  write(context, good());
  EXPECT_THAT(refusal(), HasSubstr("cpu_model is Z80 there"));
  EXPECT_THAT(read_profile(default_profile_path()).foreign, HasSubstr("Z80"));
}

TEST_F(ProfileTest, IsRefusedWhenItMakesNoSense) {
  auto with = [](const char* pointer, const ordered_json& value) {
    ordered_json json = good();
    json[ordered_json::json_pointer(pointer)] = value;
    return json;
  };
  const std::pair<ordered_json, const char*> cases[] = {
      {ordered_json::object(), "not a profile"},
      {with("/ways", 7), "not a profile"},
      {with("/ways/0/grids", ordered_json::array()), "no grids"},
      {with("/ways/0/grids/1/side", 64), "ascending"},
      {with("/ways/0/grids/0/calls/1/steps", 1), "ascending"},
      {with("/ways/0/grids/0/calls/0/seconds", -1), "seconds is -1"},
      {with("/ways/0/grids/0/calls/0/seconds", nullptr), "not a profile"},
      {with("/ways/0/grids/0/calls", ordered_json::array()), "too few calls"}};
  for (const auto& [json, complaint] : cases) {
    write(run_context(), json);
    EXPECT_THAT(refusal(), HasSubstr(complaint));
    EXPECT_THAT(refusal(), HasSubstr("diffbench calibrate"));
  }
}

// --- the advice ----------------------------------------------------------------------------------

TEST(Advice, SaysFromWhereTheGpuPays) {
  // A tenth of the time for a step, a hundred times the copies: 5 ns + K against 500 ns + K/10.
  const std::vector<WayCost> ways{plain_way(), plain_way(DeviceKind::cuda, 1e-10, 100)};
  const Advice slow = advise(ways, {.cells = 1e6, .iterations = 100});
  EXPECT_EQ(slow.ways.front().backend, "cpu_way");
  EXPECT_FALSE(slow.warm.side); // at no grid: all parts grow with the cells
  ASSERT_TRUE(slow.warm.iterations);
  EXPECT_NEAR(static_cast<double>(*slow.warm.iterations), 550, 0.05 * 550);
  EXPECT_GT(*slow.cold.iterations, *slow.warm.iterations);
  const Advice fast = advise(ways, {.cells = 1e6, .iterations = 1000});
  EXPECT_EQ(fast.ways.front().backend, "cuda_way");
  EXPECT_NEAR(*fast.warm.side, 16, 1); // at every grid that is tried
  EXPECT_FALSE(advise(std::vector{plain_way()}, {.cells = 1e6}).any_gpu);
  const Advice alone =
      advise(std::vector{plain_way(DeviceKind::cuda)}, {.cells = 1e6, .iterations = 100});
  EXPECT_FALSE(alone.any_cpu); // nothing that a GPU could beat
  EXPECT_FALSE(alone.warm.side);
  EXPECT_FALSE(alone.cold.iterations);
}

TEST(Advice, RecommendsOnlyWhatFits) {
  const std::vector<WayCost> ways{plain_way(DeviceKind::cpu, 1e-9),
                                  plain_way(DeviceKind::cpu, 2e-9)};
  Advice advice = advise(ways, {.cells = 1e6, .iterations = 100});
  advice.ways.front().fits = false;
  EXPECT_EQ(fastest(advice, RunKind::warm, DeviceKind::cpu), &advice.ways.back());
  EXPECT_EQ(fastest(advice, RunKind::warm, DeviceKind::cuda), nullptr);
}

TEST(PredictionErrors, AreSummarizedBySize) {
  std::vector<CheckedPrediction> checked;
  for (const double predicted : {0.8, 1.0, 1.1}) {
    checked.push_back(
        {.backend = "a", .run = Checked::warm, .predicted = predicted, .measured = 1});
  }
  checked.push_back({.backend = "a", .run = Checked::cold, .predicted = 3, .measured = 1});
  const ErrorSummary warm = summarize_errors(checked, Checked::warm);
  EXPECT_EQ(warm.count, 3);
  EXPECT_NEAR(warm.median, 0.1, 1e-12);
  EXPECT_NEAR(warm.worst, 0.2, 1e-12);
  EXPECT_NEAR(summarize_errors(checked, Checked::cold).worst, 2, 1e-12);
  EXPECT_EQ(summarize_errors({}, Checked::cold).count, 0);
}

TEST(PredictionCheck, OfTwoMeasurementsOfARunTheLowerCounts) {
  const CheckedPrediction run{.backend = "a",
                              .nx = 8,
                              .ny = 9,
                              .iterations = 10,
                              .steps = 10,
                              .run = Checked::warm,
                              .predicted = 3,
                              .measured = 2};
  CheckedPrediction slower = run, faster = run, other = run;
  slower.measured = 4;
  faster.measured = 1;
  other.run = Checked::cold;
  other.measured = 0.5;
  // One pass may have had no time for warm runs end to end.
  CheckedPrediction slower_steps = run;
  slower_steps.run = Checked::steps;
  slower_steps.measured = 3;
  std::vector<CheckedPrediction> checked{run};
  keep_less_disturbed(checked, std::vector{slower, other, slower_steps});
  ASSERT_EQ(checked.size(), 2U);
  EXPECT_EQ(checked[0].measured, 2);
  EXPECT_EQ(checked[1].measured, 0.5);
  keep_less_disturbed(checked, std::vector{faster});
  ASSERT_EQ(checked.size(), 2U);
  EXPECT_EQ(checked[0].measured, 1);

  CheckedPrediction longer = faster; // slower all in all, faster a step
  longer.steps = 40;
  longer.predicted = 11;
  longer.measured = 3;
  keep_less_disturbed(checked, std::vector{longer});
  ASSERT_EQ(checked.size(), 2U);
  EXPECT_EQ(checked[0].predicted, 11);
  EXPECT_EQ(checked[0].measured, 3);
}

} // namespace
} // namespace diffbench::bench
