// SPDX-License-Identifier: Apache-2.0
// Whole comparisons of small problems with backends that behave badly.
#include "comparison.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/registry.hpp"
#include "digest.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "oracle_session.hpp"
#include "output.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <sstream>
#include <thread>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::MatchesRegex;

enum class BackendFault { none, wrong_bits, nan, throws, interrupts };

/// The oracle with a fault that shows once, after `after` good calls of advance.
template <BackendFault fault, int after = 0>
class FaultySession final : public conformance::OracleSession<float> {
 public:
  using OracleSession::OracleSession;

  void advance(std::int64_t steps) override {
    OracleSession::advance(steps);
    if (calls_++ != after) {
      return;
    }
    switch (fault) {
      case BackendFault::none: break;
      case BackendFault::wrong_bits: field_.row(1)[1] += 0.25F; break;
      case BackendFault::nan: field_.row(1)[1] = std::numeric_limits<float>::quiet_NaN(); break;
      case BackendFault::throws: throw Error("the device fell off the bus");
      case BackendFault::interrupts: std::raise(SIGINT); break;
    }
  }

 private:
  int calls_ = 0;
};

template <BackendFault fault, int after = 0>
PlannedRow faulty(std::string_view name) {
  BackendInfo backend{.name = name, .description = "for tests"};
  backend.make_float32 = [](const Problem& problem,
                            const SessionOptions&) -> std::unique_ptr<Session<float>> {
    return std::make_unique<FaultySession<fault, after>>(problem);
  };
  return {.backend = backend, .probe = {}};
}

class ComparisonTest : public testing::Test {
 protected:
  ComparisonTest() {
    options_.problem.nx = 12;
    options_.problem.ny = 10;
    options_.iterations = 20;
    options_.budget_seconds = 0.01;
    options_.baseline = "good";
    options_.output.json = stdout_name;
  }
  int run(std::vector<PlannedRow> planned_rows) {
    out_.str("");
    for (PlannedRow& planned : planned_rows) {
      planned.session = options_.session;
    }
    const int exit_code = run_comparison(options_, planned_rows, {out_, err_, ""});
    if (options_.output.json == stdout_name) {
      json_ = ordered_json::parse(out_.str());
    }
    return exit_code;
  }
  [[nodiscard]] const ordered_json& row(std::size_t index) const {
    return json_["diffbench"]["results"][index];
  }

  ComparisonOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
  ordered_json json_;
};

TEST_F(ComparisonTest, AGoodBackendIsVerifiedAndTimed) {
  EXPECT_EQ(run({faulty<BackendFault::none>("good")}), exit_ok);
  EXPECT_EQ(row(0)["status"], "ok");
  EXPECT_EQ(row(0)["verified"]["bitwise"], true);
  EXPECT_EQ(row(0)["verified"]["steps"], 20);
  EXPECT_GE(row(0)["samples_seconds"].size(), 1U);
  EXPECT_EQ(json_["diffbench"]["interrupted"], false);
}

TEST_F(ComparisonTest, AMarginOfItsOwnIsThatOfTheResult) {
  Progress progress(err_, false);
  const std::vector<PlannedRow> rows{faulty<BackendFault::none>("good")};
  options_.least_effect = 0.5;
  EXPECT_EQ(measure(options_, rows, progress).least_effect, 0.5);
}

TEST_F(ComparisonTest, WrongBitsAreShownNotTimedAndExit3) {
  EXPECT_EQ(run({faulty<BackendFault::wrong_bits>("bad"), faulty<BackendFault::none>("good")}),
            exit_not_verified);
  EXPECT_EQ(row(0)["verified"]["bitwise"], false);
  EXPECT_GT(row(0)["verified"]["max_abs_error"].get<double>(), 1e-3);
  EXPECT_TRUE(row(0)["samples_seconds"].empty());
  EXPECT_EQ(row(1)["verified"]["bitwise"], true);
  EXPECT_FALSE(row(1)["samples_seconds"].empty());
}

TEST_F(ComparisonTest, NanNeverPasses) {
  EXPECT_EQ(run({faulty<BackendFault::nan>("nan")}), exit_not_verified);
  EXPECT_EQ(row(0)["verified"]["bitwise"], false);
  EXPECT_GT(row(0)["verified"]["nonfinite"].get<int>(), 0);
}

// Both fields diverge to the same NaN: equal bits are still no proof.
TEST_F(ComparisonTest, ADivergedFieldIsNotVerified) {
  options_.problem.dt = 1000;
  options_.iterations = 200;
  EXPECT_EQ(run({faulty<BackendFault::none>("good")}), exit_not_verified);
  EXPECT_GT(json_["diffbench"]["field"]["nonfinite"].get<int>(), 0);
}

TEST_F(ComparisonTest, AThrowingBackendFailsAndTheOthersGoOn) {
  EXPECT_EQ(run({faulty<BackendFault::throws>("bad"), faulty<BackendFault::none>("good")}),
            exit_error);
  EXPECT_EQ(row(0)["status"], "failed");
  EXPECT_EQ(row(0)["reason"], "advance: the device fell off the bus");
  EXPECT_EQ(row(1)["status"], "ok");
}

TEST_F(ComparisonTest, ABackendThatThrowsWhileItIsTimedKeepsItsSamples) {
  // The first run and the proofs take at most 13 calls of a session; the fault comes in the rounds.
  // With so large a budget there are 20 of them, however slow the machine is.
  options_.budget_seconds = 60;
  EXPECT_EQ(run({faulty<BackendFault::throws, 14>("bad"), faulty<BackendFault::none>("good")}),
            exit_error);
  EXPECT_EQ(row(0)["status"], "failed");
  EXPECT_EQ(row(0)["verified"]["bitwise"], true);
  EXPECT_FALSE(row(0)["samples_seconds"].empty());
  EXPECT_EQ(row(1)["status"], "ok");
}

TEST_F(ComparisonTest, NothingMeasuredIsAnError) {
  EXPECT_EQ(run({faulty<BackendFault::throws>("bad")}), exit_error);
  EXPECT_THAT(err_.str(), HasSubstr("nothing could be measured"));
}

TEST_F(ComparisonTest, AnUnavailableBackendIsSkippedWithItsReason) {
  PlannedRow absent = faulty<BackendFault::none>("absent");
  absent.probe = {.available = false, .reason = "no such device"};
  EXPECT_EQ(run({absent, faulty<BackendFault::none>("good")}), exit_ok);
  EXPECT_EQ(row(0)["status"], "skipped");
  EXPECT_EQ(row(0)["reason"], "no such device");
}

TEST_F(ComparisonTest, CtrlCKeepsWhatWasMeasured) {
  options_.budget_seconds = 60; // for a round of both, however slow the machine is
  EXPECT_EQ(run({faulty<BackendFault::none>("good"), faulty<BackendFault::interrupts, 14>("slow")}),
            exit_interrupted);
  EXPECT_EQ(json_["diffbench"]["interrupted"], true);
  EXPECT_FALSE(row(0)["samples_seconds"].empty());
  EXPECT_EQ(row(0)["status"], "ok");
}

TEST_F(ComparisonTest, CtrlCBeforeAnythingIsTimedHasNoTable) {
  EXPECT_THROW(
      (void)run({faulty<BackendFault::interrupts>("slow"), faulty<BackendFault::none>("good")}),
      Interrupted);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ComparisonTest, TheTableIsOnStdoutUnlessAFileFormatIsThere) {
  options_.output.json.clear();
  EXPECT_EQ(run({faulty<BackendFault::none>("good")}), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr("time/iter"));
}

TEST_F(ComparisonTest, TooLittleMemoryIsRefusedWithTheFigures) {
  PlannedRow huge = faulty<BackendFault::none>("huge");
  huge.backend.memory_need = [](const Problem&, const SessionOptions&) {
    return MemoryNeed{.host = std::int64_t{1} << 60};
  };
  try {
    (void)run({huge});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 EiB"));
  }
}

TEST_F(ComparisonTest, TheLargestGridIsRefusedWithoutOverflow) {
  options_.problem.nx = options_.problem.ny = max_extent;
  options_.problem.dtype = Dtype::float64;
  EXPECT_THROW(run({faulty<BackendFault::none>("good")}), InvalidInput);
}

TEST_F(ComparisonTest, PinnedWithoutCudaIsOnlyAHint) {
  options_.gpu_options = {"--pinned"};
  EXPECT_EQ(run({faulty<BackendFault::none>("good")}), exit_ok);
  EXPECT_THAT(err_.str(), MatchesRegex("diffbench: this (build|run) has no CUDA backend, so "
                                       "--pinned has no effect\n"));
}

} // namespace
} // namespace diffbench::bench
