// SPDX-License-Identifier: Apache-2.0
// Whole comparisons with a GPU that is none: right results, an account of phases, and calls that
// fail on demand.
#include "comparison.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/npy.hpp"
#include "digest.hpp"
#include "oracle_session.hpp"
#include "output.hpp"
#include "temporary_directory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using testing::HasSubstr;

/// The device of all sessions of a test.
struct Machine {
  std::string throws_at;    ///< call that throws
  int calls_before_throw{}; ///< good ones before
  int alive = 0;
  std::map<std::string, int> calls;

  void fail(std::string call, int good_ones) {
    *this = {};
    throws_at = std::move(call);
    calls_before_throw = good_ones;
  }
  void enter(const std::string& call) {
    ++calls[call];
    if (call == throws_at && calls_before_throw-- == 0) {
      throw Error("cudaSomething: " + call + " failed");
    }
  }
};
Machine machine; // BackendInfo's makers are plain functions

/// The oracle, held as a GPU session holds a field: start_download() delivers at the next wait().
class OracleDevice final : public conformance::OracleSession<float> {
 public:
  OracleDevice(const Problem& problem, const SessionOptions& options)
      : OracleSession(problem), async_(options.async) {
    machine.enter("make");
    if (options.device != 0) {
      throw Unavailable("there is no CUDA device " + std::to_string(options.device));
    }
    if (options.transfer == Transfer::pinned) {
      buffer_.resize(static_cast<std::size_t>(problem.cells()));
      account_.pin = 1e-6;
    }
    account_.context = 1e-6;
    ++machine.alive;
  }
  ~OracleDevice() override { --machine.alive; }

  void upload_rows(std::int64_t first, std::span<const float> cells) override {
    machine.enter("upload");
    OracleSession::upload_rows(first, cells);
  }
  void advance(std::int64_t steps) override {
    machine.enter("advance");
    OracleSession::advance(steps);
    account_.compute_busy += 1e-6;
  }
  void wait() override {
    machine.enter("wait");
    for (auto& [cells, target] : on_its_way_) {
      std::copy(cells.begin(), cells.end(), target.begin());
    }
    on_its_way_.clear();
  }
  void download_rows(std::int64_t first, std::span<float> cells) override {
    wait();
    machine.enter("download");
    OracleSession::download_rows(first, cells);
  }
  void start_download(std::span<float> cells) override {
    if (!async_) {
      download(cells);
      return;
    }
    machine.enter("start_download");
    on_its_way_.emplace_back(std::vector<float>(field_.cells().begin(), field_.cells().end()),
                             cells);
  }
  [[nodiscard]] std::span<float> host_buffer() override { return buffer_; }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    return std::exchange(account_, {});
  }

 private:
  bool async_;
  std::vector<float> buffer_;
  std::vector<std::pair<std::vector<float>, std::span<float>>> on_its_way_;
  PhaseTimes account_;
};

PlannedRow cpu() {
  BackendInfo backend{.name = "cpu", .description = "for tests"};
  backend.make_float32 = [](const Problem& problem,
                            const SessionOptions&) -> std::unique_ptr<Session<float>> {
    return std::make_unique<conformance::OracleSession<float>>(problem);
  };
  return {.backend = backend, .probe = {}};
}

/// Right when it is made first, and wrong ever after.
PlannedRow cpu_that_wears_out() {
  PlannedRow planned = cpu();
  planned.backend.make_float32 = [](const Problem& problem,
                                    const SessionOptions&) -> std::unique_ptr<Session<float>> {
    Problem its_own = problem;
    its_own.dt *= machine.calls["make"]++ == 0 ? 1 : 0.5;
    return std::make_unique<conformance::OracleSession<float>>(its_own);
  };
  return planned;
}

PlannedRow gpu(DeviceKind device = DeviceKind::cuda) {
  BackendInfo backend{.name = "gpu", .description = "for tests", .device = device};
  backend.memory_need = [](const Problem& problem, const SessionOptions&) {
    return MemoryNeed{.host = 0, .device = 2 * problem.field_bytes()};
  };
  backend.make_float32 = [](const Problem& problem,
                            const SessionOptions& options) -> std::unique_ptr<Session<float>> {
    return std::make_unique<OracleDevice>(problem, options);
  };
  return {.backend = backend, .probe = {}};
}

class DeviceRowsTest : public testing::Test {
 protected:
  DeviceRowsTest() {
    machine = {};
    options_.problem.nx = 12;
    options_.problem.ny = 10;
    options_.iterations = 20;
    options_.budget_seconds = 0.01;
    options_.copy_roof = false;
    options_.baseline = "cpu";
    options_.output.json = stdout_name;
  }
  ~DeviceRowsTest() override { EXPECT_EQ(machine.alive, 0); }

  int run(std::vector<PlannedRow> planned_rows) {
    out_.str("");
    for (PlannedRow& planned : planned_rows) {
      planned.session = options_.session;
    }
    if (options_.roundtrip_every > 0) {
      planned_rows = with_round_trips(planned_rows, options_.roundtrip_every);
    }
    const int exit_code = run_comparison(options_, planned_rows, {out_, err_, ""});
    json_ = ordered_json::parse(out_.str());
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

double sum_of_phases(const ordered_json& phases) {
  double sum = 0;
  for (const auto& [name, value] : phases.items()) {
    sum += name == "wall" || value.is_null() ? 0 : value.get<double>();
  }
  return sum;
}

TEST_F(DeviceRowsTest, HaveALedgerThatAddsUp) {
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  const ordered_json& warm = row(1)["phases"];
  const ordered_json& cold = row(1)["end_to_end"]["cold_phases"];
  EXPECT_TRUE(warm["context"].is_null());
  EXPECT_TRUE(warm["free"].is_null());
  EXPECT_FALSE(cold["context"].is_null());
  EXPECT_FALSE(cold["free"].is_null());
  EXPECT_NEAR(sum_of_phases(warm), warm["wall"].get<double>(), 1e-12);
  EXPECT_NEAR(sum_of_phases(cold), cold["wall"].get<double>(), 1e-12);
  EXPECT_NEAR(row(1)["busy"]["compute"].get<double>(), 1e-6, 1e-12); // of one run, not of all
  EXPECT_FALSE(row(1)["speedups"]["vs_baseline"]["cold"].is_null());
  EXPECT_FALSE(row(0)["end_to_end"]["cold_phases"]["free"].is_null());
  EXPECT_EQ(row(1)["peak_device_bytes"], 2 * 12 * 10 * 4);
  EXPECT_TRUE(json_["diffbench"]["transfers"].is_null());
}

TEST_F(DeviceRowsTest, APinnedRunIsComparedWithPageableCopies) {
  options_.session.transfer = Transfer::pinned;
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  EXPECT_EQ(json_["diffbench"]["transfers"]["backend"], "gpu");
  EXPECT_NEAR(json_["diffbench"]["transfers"]["setup_seconds"].get<double>(), 1e-6, 1e-12);
}

TEST_F(DeviceRowsTest, ACopyThatFailsInThatComparisonLosesNoRow) {
  options_.session.transfer = Transfer::pinned;
  EXPECT_EQ(run({gpu()}), exit_ok);
  const int makes = machine.calls["make"];
  machine.fail("make", makes - 1);
  EXPECT_EQ(run({gpu()}), exit_ok);
  EXPECT_TRUE(json_["diffbench"]["transfers"].is_null());
  EXPECT_THAT(json_["diffbench"]["notes"].dump(), HasSubstr("copies could not be compared"));
}

TEST_F(DeviceRowsTest, EveryColdRunIsVerified) {
  options_.budget_seconds = 10; // enough for a second one, however slow the machine
  EXPECT_EQ(run({cpu_that_wears_out()}), exit_not_verified);
  EXPECT_EQ(row(0)["verified"]["bitwise"], false);
  EXPECT_EQ(machine.calls["make"], 2 + 1); // one more for a small field
}

TEST_F(DeviceRowsTest, AreInTheTraceWithTheirEngines) {
  const TemporaryDirectory directory;
  options_.budget_seconds = 10;
  for (const auto kind : {DeviceKind::cuda, DeviceKind::emulated}) {
    options_.observation.trace = directory.path() / "trace.json";
    EXPECT_EQ(run({cpu(), gpu(kind)}), exit_ok);
    std::ifstream file(options_.observation.trace);
    std::map<std::string, int> names;
    const ordered_json trace = ordered_json::parse(file);
    for (const ordered_json& event : trace["traceEvents"]) {
      ++names[event["name"]];
    }
    // The oracle's account has compute in it, and no copies. Of an emulation no time is shown.
    const int runs = kind == DeviceKind::cuda ? 1 : 0;
    EXPECT_EQ(names["gpu: cold run"], runs);
    EXPECT_EQ(names["gpu: sample"], runs * static_cast<int>(row(1)["samples_seconds"].size()));
    EXPECT_EQ(names["gpu: compute"] > 0, kind == DeviceKind::cuda);
    EXPECT_EQ(names["gpu: copy to the device"], 0);
    EXPECT_GT(names["cpu: cold run"], 1); // repeated; on a GPU only the first one is cold
    EXPECT_EQ(names["timing"], 1);
  }
}

TEST_F(DeviceRowsTest, HaveTheTelemetryOfTheCard) {
  ::setenv("DIFFBENCH_NVML", FAKE_NVML_LIBRARY, 1);
  options_.observation.telemetry = true;
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  EXPECT_TRUE(row(0)["telemetry"]["gpu"].is_null());
  // The fake card uses 2 J between any two readings of its counter.
  EXPECT_DOUBLE_EQ(row(1)["telemetry"]["gpu"]["joules"].get<double>(),
                   2.0 * static_cast<double>(row(1)["samples_seconds"].size()));
  EXPECT_EQ(run({cpu(), gpu(DeviceKind::emulated)}), exit_ok);
  EXPECT_TRUE(row(1)["telemetry"].is_null());
  ::unsetenv("DIFFBENCH_NVML");
}

TEST_F(DeviceRowsTest, RoundTripsAreRowsOfTheirOwn) {
  options_.roundtrip_every = 7;
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  ASSERT_EQ(json_["diffbench"]["results"].size(), 3U);
  EXPECT_EQ(row(2)["backend"], "gpu, round trip every 7");
  EXPECT_EQ(row(2)["roundtrip_every"], 7);
  EXPECT_EQ(row(2)["kernel"], "gpu");
  EXPECT_EQ(row(2)["transfer"], "pageable");
  EXPECT_EQ(row(2)["overlapped"], false);
  EXPECT_TRUE(row(0)["transfer"].is_null());
  EXPECT_EQ(row(2)["verified"]["bitwise"], true);
  EXPECT_TRUE(row(1)["roundtrip_every"].is_null());
}

TEST_F(DeviceRowsTest, SnapshotsAreRowsOfTheirOwn) {
  options_.session.transfer = Transfer::pinned;
  options_.session.async = true;
  PlannedRow snapshots = gpu();
  snapshots.snapshot_every = 5;
  snapshots.label = "gpu, snapshots";
  EXPECT_EQ(run({snapshots}), exit_ok);
  EXPECT_EQ(row(0)["backend"], "gpu, snapshots");
  EXPECT_EQ(row(0)["snapshot_every"], 5);
  EXPECT_EQ(row(0)["provenance"]["snapshot_every"], "5");
  EXPECT_EQ(row(0)["verified"]["bitwise"], true); // 20 steps end with a snapshot: it is checked
  EXPECT_GT(machine.calls["start_download"], 0);
}

TEST_F(DeviceRowsTest, EmulatedOnesAreVerifiedNotTimed) {
  EXPECT_EQ(run({cpu(), gpu(DeviceKind::emulated)}), exit_ok);
  EXPECT_EQ(row(1)["device"], "emulated");
  EXPECT_EQ(row(1)["status"], "ok");
  EXPECT_EQ(row(1)["verified"]["bitwise"], true);
  EXPECT_TRUE(row(1)["samples_seconds"].empty());
  for (const char* time : {"seconds_per_iteration", "setup_seconds", "phases", "busy"}) {
    EXPECT_TRUE(row(1)[time].is_null()) << time;
  }
  for (const auto& [name, value] : row(1)["end_to_end"].items()) {
    EXPECT_TRUE(value.is_null()) << name;
  }
  EXPECT_EQ(run({gpu(DeviceKind::emulated)}), exit_ok); // a proof is a result
}

TEST_F(DeviceRowsTest, ADeviceThatWasChosenAndIsNotThereIsExit4) {
  options_.session.device = 7;
  options_.device_chosen = true;
  EXPECT_EQ(run({cpu(), gpu()}), exit_unavailable);
  EXPECT_EQ(row(0)["status"], "ok"); // kept and written
  EXPECT_EQ(row(1)["status"], "failed");
  EXPECT_EQ(row(1)["reason"], "there is no CUDA device 7");
}

TEST_F(DeviceRowsTest, ABackendThatRefusesTheProblemIsSkippedUnlessItWasNamed) {
  options_.session.device = 7; // stands for any refusal
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  EXPECT_EQ(row(1)["status"], "skipped");
  EXPECT_EQ(row(1)["reason"], "there is no CUDA device 7");
  options_.backends = {"gpu"};
  EXPECT_EQ(run({gpu()}), exit_unavailable);
}

TEST_F(DeviceRowsTest, HintsNameWhatHasNoEffect) {
  options_.gpu_options = {"--pinned", "--device"};
  PlannedRow absent = gpu();
  absent.probe = {.available = false, .reason = "no driver"};
  EXPECT_EQ(run({cpu(), absent}), exit_ok);
  EXPECT_EQ(err_.str(),
            "diffbench: no GPU can be used (no driver), so --pinned, --device have no effect\n");
  err_.str("");
  EXPECT_EQ(run({cpu(), gpu()}), exit_ok);
  EXPECT_EQ(err_.str(), "");
}

/// Every call that a run makes of a session, failing at its first, second, ... time.
class FaultTest : public DeviceRowsTest, public testing::WithParamInterface<const char*> {};

TEST_P(FaultTest, LosesItsOwnRowOnly) {
  EXPECT_EQ(run({gpu(), cpu()}), exit_ok);
  const int calls = machine.calls[GetParam()];
  ASSERT_GT(calls, 0);
  for (int good = 0; good < std::min(calls, 12); ++good) {
    machine.fail(GetParam(), good);
    const int exit_code = run({gpu(), cpu()});
    EXPECT_EQ(exit_code, row(0)["status"] == "failed" ? exit_error : exit_ok);
    EXPECT_EQ(machine.alive, 0);
    EXPECT_EQ(row(1)["status"], "ok");
    EXPECT_FALSE(row(1)["samples_seconds"].empty());
    if (machine.calls_before_throw < 0) { // it came so far: how often a run waits depends on times
      EXPECT_EQ(row(0)["status"], "failed") << good;
      EXPECT_THAT(row(0)["reason"].get<std::string>(),
                  HasSubstr(fmt::format("cudaSomething: {} failed", GetParam())));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCall, FaultTest,
                         testing::Values("make", "upload", "advance", "wait", "download"));

} // namespace
} // namespace diffbench::bench
