// SPDX-License-Identifier: Apache-2.0
// Races of training steps: what passes for right, what does not, and what becomes of those who
// fail.
#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "json.hpp"
#include "mlp/race.hpp"
#include "mlp/sizes.hpp"
#include "mlp/thread_scaling.hpp"
#include "unmarked_csv.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace diffbench::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TrainingJob small_job(std::int64_t batch = 100) {
  return make_job({.network = mlp::Network({2, 16, 16, 2}), .optimizer = {}, .batch = batch},
                  mlp::disc_set(1000, 1).train, 1);
}

/// The scalar engine, with a fault.
class FaultyEngine final : public mlp::Engine<float> {
 public:
  /// Changes the parameters after each step.
  using Fault = void (*)(std::span<float> before, std::span<float> after);

  FaultyEngine(const mlp::Training& training, Fault fault)
      : engine_(mlp::require_engine("scalar").make_float32(training, {})),
        parameters_(static_cast<std::size_t>(training.network.parameters())),
        fault_(fault) {}

  void set_parameters(std::span<const float> parameters) override {
    engine_->set_parameters(parameters);
  }
  void get_parameters(std::span<float> parameters) override { engine_->get_parameters(parameters); }
  void step(std::span<const float> features, std::span<const std::int32_t> labels) override {
    std::vector<float> before(parameters_.size());
    engine_->get_parameters(before);
    engine_->step(features, labels);
    engine_->get_parameters(parameters_);
    fault_(before, parameters_);
    engine_->set_parameters(parameters_);
  }
  mlp::Losses wait() override { return engine_->wait(); }
  void forward(std::span<const float> features, std::span<float> outputs) override {
    engine_->forward(features, outputs);
  }
  [[nodiscard]] Provenance provenance() const override { return engine_->provenance(); }

 private:
  std::unique_ptr<mlp::Engine<float>> engine_;
  std::vector<float> parameters_;
  Fault fault_;
};

template <FaultyEngine::Fault fault>
std::unique_ptr<mlp::Engine<float>> make_faulty(const mlp::Training& training,
                                                const SessionOptions& /*session*/) {
  return std::make_unique<FaultyEngine>(training, fault);
}

void none(std::span<float> /*before*/, std::span<float> /*after*/) {}
void two_percent_too_far(std::span<float> before, std::span<float> after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    after[i] += 0.02F * (after[i] - before[i]);
  }
}
void last_bias_stays(std::span<float> before, std::span<float> after) {
  after.back() = before.back();
}
void nothing_learnt(std::span<float> before, std::span<float> after) {
  std::ranges::copy(before, after.begin());
}
void dies(std::span<float> /*before*/, std::span<float> /*after*/) { throw Error("broken wire"); }

mlp::EngineInfo faulty(mlp::EngineInfo::Make<float> make, DeviceKind device = DeviceKind::cpu) {
  return {.name = "faulty", .description = "", .device = device, .make_float32 = make};
}

class Race : public ::testing::Test {
 protected:
  RaceResult run(std::vector<mlp::EngineInfo> engines, std::vector<int> threads = {}) {
    const RaceOptions options{.engines = std::move(engines),
                              .threads = std::move(threads),
                              .peers = {},
                              .session = {},
                              .most_steps = 10};
    constexpr double budget = 60; // the limit of steps ends it first, however slow the machine is
    return run_race(job_, options, budget, peers_, progress_);
  }
  RaceRow run_one(mlp::EngineInfo::Make<float> make, DeviceKind device = DeviceKind::cpu) {
    return run({faulty(make, device)}).rows.front();
  }

  TrainingJob job_ = small_job();
  PeerPool peers_;
  std::ostringstream shown_;
  Progress progress_{shown_, false};
};

TEST_F(Race, EngineThatIsRightIsTimed) {
  const RaceRow row = run_one(make_faulty<none>);
  EXPECT_TRUE(row.ranked());
  EXPECT_LE(row.check->share_of_bound, 0.5);
  EXPECT_GT(row.step_seconds(), 0);
  EXPECT_EQ(row.samples.front().iterations, 10);
  EXPECT_EQ(outcome_of(endings_of(std::vector{row})).exit_code, exit_ok);
}

TEST_F(Race, AllEnginesOfTheBuildAreRight) {
  for (const RaceRow& row : run(mlp::all_engines()).rows) {
    if (row.status == Status::ok) {
      EXPECT_TRUE(row.check && row.check->ok()) << row.name << ' ' << row.check->share_of_bound;
    }
  }
}

TEST_F(Race, EngineThatIsWrongIsNotTimed) {
  for (const auto make : {make_faulty<two_percent_too_far>, make_faulty<last_bias_stays>,
                          make_faulty<nothing_learnt>}) {
    const RaceRow row = run_one(make);
    EXPECT_FALSE(row.check->ok());
    EXPECT_FALSE(row.ranked());
    EXPECT_THAT(row.samples, IsEmpty());
    EXPECT_EQ(outcome_of(endings_of(std::vector{row})).exit_code, exit_not_verified);
    EXPECT_THAT(trouble(row), HasSubstr("WRONG"));
  }
}

TEST_F(Race, NaNIsNeverRight) {
  StepReference reference(job_);
  std::vector<float> parameters = job_.start;
  parameters[3] = std::numeric_limits<float>::quiet_NaN();
  const StepCheck check = reference.check(parameters);
  EXPECT_EQ(check.nonfinite, 1);
  EXPECT_FALSE(check.ok());
  EXPECT_FALSE((StepCheck{.steps = 1, .share_of_bound = std::nan("")}.ok()));
}

TEST_F(Race, JobHasWholeBatchesInTheOrderOfTheData) {
  const TrainingJob job = small_job(99);
  EXPECT_EQ(job.batches(), 10);
  EXPECT_EQ(job.data.rows(), 990);
  EXPECT_EQ(job.features(11).data(), job.features(1).data());
  EXPECT_EQ(job.features(1).front(), mlp::disc_set(1000, 1).train.values[2 * 99]);
  EXPECT_EQ(job.labels(9).size(), 99);
}

TEST_F(Race, RowLeftOutOfABatchShows) {
  StepReference reference(job_);
  const auto engine = mlp::require_engine("cpu").make_float32(job_.training, {});
  engine->set_parameters(job_.start);
  for (std::int64_t step = 0; step < reference.steps(); ++step) {
    engine->step(job_.features(step).first(2 * 99), job_.labels(step).first(99));
  }
  std::vector<float> parameters(job_.start.size());
  engine->get_parameters(parameters);
  EXPECT_GT(reference.check(parameters).share_of_bound, 2);
}

TEST_F(Race, EngineThatThrowsFailsAndTheOthersGoOn) {
  const auto rows = run({faulty(make_faulty<dies>), mlp::require_engine("cpu")}).rows;
  EXPECT_EQ(rows[0].status, Status::failed);
  EXPECT_THAT(rows[0].reason, HasSubstr("broken wire"));
  EXPECT_TRUE(rows[1].ranked());
  EXPECT_EQ(outcome_of(endings_of(rows)).exit_code, exit_error);
}

TEST_F(Race, EmulationIsVerifiedAndHasNoTime) {
  const RaceRow right = run_one(make_faulty<none>, DeviceKind::emulated);
  EXPECT_TRUE(right.check->ok());
  EXPECT_EQ(right.status, Status::ok);
  EXPECT_THAT(right.samples, IsEmpty());
  const RaceRow wrong = run_one(make_faulty<nothing_learnt>, DeviceKind::emulated);
  EXPECT_EQ(outcome_of(endings_of(std::vector{wrong})).exit_code, exit_not_verified);
}

TEST_F(Race, ThreadedEnginesRunOnceWithEachNumberOfThreads) {
  const auto rows = run({mlp::require_engine("scalar"), mlp::require_engine("cpu")}, {1, 3}).rows;
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].name, "scalar");
  EXPECT_EQ(rows[1].name, "cpu, 1 thread");
  EXPECT_EQ(rows[2].name, "cpu, 3 threads");
  EXPECT_EQ(rows[2].provenance.threads, 3);
}

TEST_F(Race, DivergenceIsAnErrorThatSaysWhatHelps) {
  job_.training.optimizer.rate = 1e30;
  EXPECT_THROW((void)run({mlp::require_engine("cpu")}), Error);
}

// --- reports
// ---------------------------------------------------------------------------------------

RaceRow timed_race_row(const std::string& engine, double seconds,
                       DeviceKind device = DeviceKind::cpu) {
  RaceRow row;
  row.name = row.engine = engine;
  row.device = device;
  row.check = StepCheck{.steps = 10, .share_of_bound = 0.1};
  for (int i = 0; i < 10; ++i) {
    row.samples.push_back({.iterations = 100, .seconds = 100 * seconds, .cpu_seconds = {}});
  }
  return row;
}

/// Four networks of 22 to 12,000 parameters; the engine gains on the peer by the size.
SizeStudy sample_study() {
  SizeStudy study{.verb = "depth", .symbol = "T", .points = {}};
  const std::vector<std::pair<std::int64_t, std::pair<double, double>>> times{
      {4, {1e-5, 2e-4}}, {8, {1e-4, 2.1e-4}}, {64, {1e-3, 5e-4}}, {128, {4e-3, 1e-3}}};
  for (const auto& [size, seconds] : times) {
    study.points.push_back({.size = size,
                            .network = mlp::doubling_network(size),
                            .race = {.rows = {timed_race_row("cpu", seconds.first),
                                              timed_race_row("peer:torch", seconds.second)},
                                     .reference = "scalar"}});
  }
  return study;
}

TEST(SizeReport, SaysWhoWinsFromWhereAndWhatDispatchCosts) {
  const LabReport report = size_report(sample_study());
  EXPECT_THAT(report.sentence,
              HasSubstr("the best engine is not faster than the best peer at the largest size"));
  EXPECT_THAT(report.sentence, HasSubstr("190 us are its cost of issuing"));
  EXPECT_THAT(report.sentence, HasSubstr("not measured: no row ran on one"));
  EXPECT_THAT(report.text, HasSubstr("~10.0 ms")); // 1000 steps, of which 100 were timed
  EXPECT_EQ(report.series.size(), 8);
  EXPECT_EQ(report.series.front().name, "mlp/depth/2-4-2/cpu");
  const std::string csv = unmarked_csv(*report.rows);
  EXPECT_THAT(csv, HasSubstr(",0.0002,,,,0.2,true,4,22\n"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 8);
}

TEST(SizeReport, NamesWhereAnotherRowBecomesTheFastest) {
  EXPECT_THAT(size_report(sample_study()).sentence,
              StartsWith("cpu is the fastest at T = 4, 8; peer:torch at T = 64, 128; "));
}

TEST(SizeReport, ShowsTheSpreadOfEachRow) {
  SizeStudy study = sample_study();
  study.points[0].race.rows[0].samples[0].seconds *= 2;
  EXPECT_THAT(size_report(study).text, testing::ContainsRegex("spread, T +cpu +peer:torch\n-+\n4 "
                                                              "+\\+-0\\.0 %"));
}

TEST(SizeReport, FindsWhereTheGpuBeginsToWin) {
  SizeStudy study = sample_study();
  for (SizePoint& point : study.points) {
    point.race.rows.push_back(timed_race_row("cuda", 3e-4, DeviceKind::cuda));
  }
  EXPECT_THAT(size_report(study).sentence,
              HasSubstr("the GPU is faster than the best CPU row from"));
}

TEST(SizeReport, WrongRowMakesTheWorstOutcome) {
  SizeStudy study = sample_study();
  study.points[0].race.rows[1].status = Status::failed;
  study.points[0].race.rows[1].reason = "died";
  study.points[2].race.rows[0].check->share_of_bound = std::nan("");
  const LabReport report = size_report(study);
  EXPECT_EQ(report.outcome.exit_code, exit_not_verified);
  EXPECT_THAT(report.text, HasSubstr("WRONG"));
}

// --- mlp scaling
// -----------------------------------------------------------------------------------

RaceRow threads_row(int threads, double seconds) {
  RaceRow row = timed_race_row("cpu", seconds);
  row.name = "cpu, " + std::to_string(threads);
  row.threads = threads;
  row.provenance.threads = threads;
  return row;
}

StepScaling sample_threads() {
  return {.network = mlp::Network({784, 128, 10}),
          .race = {.rows = {threads_row(1, 1e-3), threads_row(2, 6e-4), threads_row(4, 4e-4),
                            threads_row(8, 1e-3)},
                   .reference = "scalar"},
          .usable_cpus = 4,
          .cpu_quota = std::numeric_limits<double>::infinity()};
}

TEST(StepScaling, FitsTheLawToWhatIsNotOversubscribed) {
  StepScaling study = sample_threads();
  study.race.rows.front().peak_bytes = std::int64_t{7} << 19;
  const LabReport report = step_scaling_report(study);
  EXPECT_THAT(report.text, HasSubstr("3.5 MiB"));
  EXPECT_EQ(json_of(report.data)["results"][1]["speedup"], 1e-3 / 6e-4);
  EXPECT_EQ(json_of(report.data)["results"][3]["oversubscribed"], true);
  EXPECT_EQ(json_of(report.data)["fit"]["points"], 2);
  EXPECT_NEAR(json_of(report.data)["fit"]["serial_fraction"], 0.2, 0.01);
  EXPECT_THAT(report.sentence,
              HasSubstr("cpu is fastest on 4 threads, 2.50 times as fast as on one"));
  EXPECT_THAT(report.sentence, HasSubstr("is not known"));
  EXPECT_THAT(report.text, HasSubstr("made-up rows"));
}

TEST(StepScaling, AGpuIsHeldAgainstTheBestOfTheCpu) {
  StepScaling study = sample_threads();
  study.race.rows.push_back(timed_race_row("cuda", 5e-5, DeviceKind::cuda));
  EXPECT_THAT(step_scaling_report(study).sentence,
              HasSubstr("take 4, the fewest within 5 % of the best. Against the best of the CPU "
                        "(cpu, 4) the GPU (cuda) is 8.00 times as fast a step: not worth it"));
  study.race.rows.back() = timed_race_row("cuda", 2e-5, DeviceKind::cuda);
  EXPECT_EQ(json_of(step_scaling_report(study).data)["gpu"]["worth_it"], true);
}

} // namespace
} // namespace diffbench::bench
