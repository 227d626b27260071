// SPDX-License-Identifier: Apache-2.0
// The passes over all backends and grids, with a backend whose speed changes between two passes.
#include "advice/machine_calibration.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Cold runs make stretches of 1, 3, 12 and more steps, so these are a call of the calibration.
constexpr std::int64_t steps_of_a_call = 8;

/// The scalar backend. Sessions made after one has made such a call are slow: only calls of 1 and 4
/// steps are affordable then.
class SlowLater final : public Session<float> {
 public:
  explicit SlowLater(const Problem& problem)
      : session_(require_backend("scalar").make_float32(problem, {})), slow_(any_call) {}

  void upload_rows(std::int64_t first, std::span<const float> cells) override {
    session_->upload_rows(first, cells);
  }
  void advance(std::int64_t steps) override {
    if (steps == steps_of_a_call) {
      any_call = true;
      calls_of_slow += slow_ ? 1 : 0;
    }
    if (slow_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    session_->advance(steps);
  }
  void wait() override { session_->wait(); }
  void download_rows(std::int64_t first, std::span<float> cells) override {
    session_->download_rows(first, cells);
  }
  [[nodiscard]] Provenance provenance() const override { return session_->provenance(); }

  inline static bool any_call = false;
  inline static int calls_of_slow = 0;

 private:
  std::unique_ptr<Session<float>> session_;
  bool slow_;
};

std::unique_ptr<Session<float>> make_slow_later(const Problem& problem, const SessionOptions&) {
  return std::make_unique<SlowLater>(problem);
}

std::unique_ptr<Session<float>> make_broken(const Problem&, const SessionOptions&) {
  throw Error("broken on purpose");
}

PlannedRow planned(std::string_view name, BackendInfo::Make<float> make) {
  return {.backend = {.name = name, .description = "a test's own", .make_float32 = make},
          .probe = {}};
}

class CalibrationOfMachine : public testing::Test {
 protected:
  std::vector<WayCost> calibrate(const std::vector<PlannedRow>& planned_rows) {
    std::ostringstream nowhere;
    Progress progress(nowhere, false);
    const Dtype dtypes[] = {Dtype::float32};
    return calibrate_machine(planned_rows, dtypes, smallest_side, progress, notes_).ways;
  }
  std::vector<std::string> notes_;
};

TEST_F(CalibrationOfMachine, LaterPassesMakeTheCallsOfTheFirst) {
  const std::vector<WayCost> ways = calibrate({planned("slow_later", make_slow_later)});
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_EQ(ways[0].grids.size(), 1U);
  EXPECT_GE(SlowLater::calls_of_slow, calibration_passes - 1);
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(CalibrationOfMachine, AWayThatFailsIsLeftOutAndSaysWhyOnce) {
  const std::vector<WayCost> ways = calibrate(
      {planned("broken", make_broken), planned("whole", require_backend("scalar").make_float32)});
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_EQ(ways[0].backend, "whole");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("broken on purpose")));
}

} // namespace
} // namespace diffbench::bench
