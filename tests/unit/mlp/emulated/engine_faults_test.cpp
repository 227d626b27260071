// Every call of the CUDA runtime and of cuBLASLt that an engine makes is made to fail once: an
// error that names the call must come, nothing may leak, and the next engine must work.
#include "../training_case.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <emulation/control.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace diffbench::mlp {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Sweep {
  EngineInfo engine;
  Transfer transfer;
};

std::vector<Sweep> sweeps() {
  std::vector<Sweep> sweeps;
  for (const EngineInfo& engine : all_engines()) {
    if (engine.device == DeviceKind::emulated) {
      sweeps.push_back({engine, Transfer::pageable});
      sweeps.push_back({engine, Transfer::pinned});
    }
  }
  return sweeps;
}

std::string sweep_name(const testing::TestParamInfo<Sweep>& info) {
  return std::string(info.param.engine.name) + "_" + std::string(to_string(info.param.transfer));
}

struct Outcome {
  std::optional<std::string> error;
  std::int64_t calls_before_end = 0; ///< those that follow are the destructor's
  std::string log;                   ///< stderr
};

// One life of an engine, with everything that it can do: short, since the sweep lives it once for
// each of its calls.
std::int64_t live(const Sweep& sweep) {
  Training training{
      .network = Network({3, 9, 2}), .optimizer = {.rate = 0.1, .momentum = 0.9}, .batch = 4};
  training.times = sweep.transfer == Transfer::pinned;
  SessionOptions options;
  options.transfer = sweep.transfer;
  options.async = true;
  const Rows<float> rows = random_rows<float>(training.network, 6, 1);
  const auto engine = sweep.engine.make<float>()(training, options);
  engine->set_parameters(start_of<float>(training.network));
  engine->step(std::span(rows.features).first(12), std::span(rows.labels).first(4));
  engine->resident_data()->set_data(rows.features, rows.labels);
  engine->resident_data()->run(std::array{5, 4, 3, 2, 1, 0});
  (void)engine->wait();
  (void)engine->take_times();
  std::vector<float> outputs(4);
  engine->forward(std::span(rows.features).first(6), outputs);
  (void)parameters_of(*engine, training.network);
  return emulation::counters().calls;
}

Outcome outcome_of(const Sweep& sweep) {
  Outcome outcome;
  testing::internal::CaptureStderr();
  try {
    outcome.calls_before_end = live(sweep);
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  outcome.log = testing::internal::GetCapturedStderr();
  return outcome;
}

bool gives_back(const std::string& call) {
  constexpr std::array verbs = {"Free", "Destroy"};
  return std::ranges::any_of(
      verbs, [&call](const char* verb) { return call.find(verb) != std::string::npos; });
}

class EngineFaults : public testing::TestWithParam<Sweep> {
 protected:
  void SetUp() override {
    emulation::reset();
    ASSERT_EQ(outcome_of(GetParam()).error, std::nullopt);
    emulation::reset();
  }
  void TearDown() override { emulation::reset(); }
};

TEST_P(EngineFaults, EveryCallFailsCleanly) {
  const Outcome healthy = outcome_of(GetParam());
  ASSERT_EQ(healthy.error, std::nullopt);
  ASSERT_THAT(healthy.log, IsEmpty());
  const std::int64_t calls = emulation::counters().calls;
  ASSERT_GT(healthy.calls_before_end, 50);
  for (std::int64_t k = 1; k <= calls; ++k) {
    emulation::reset();
    emulation::fail_call(k, cudaErrorMemoryAllocation);
    const Outcome outcome = outcome_of(GetParam());
    const std::string call = emulation::failed_call();
    emulation::clear_faults();
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) + ", " + call);
    ASSERT_FALSE(call.empty());
    const auto says_why = AnyOf(HasSubstr("out of memory"), HasSubstr("ALLOC_FAILED"));
    if (outcome.error) {
      EXPECT_THAT(*outcome.error, AllOf(HasSubstr(call + "("), says_why, Not(HasSubstr("\n"))));
    } else {
      EXPECT_TRUE(gives_back(call) || k > healthy.calls_before_end) << "the failure was swallowed";
      EXPECT_THAT(outcome.log, AllOf(HasSubstr(call + "("), says_why));
    }
    EXPECT_THAT(emulation::live_resources(), IsEmpty());
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
  }
  emulation::reset();
  EXPECT_EQ(outcome_of(GetParam()).error, std::nullopt);
}

TEST_P(EngineFaults, AKernelsFaultArrives) {
  ASSERT_EQ(outcome_of(GetParam()).error, std::nullopt);
  const std::int64_t kernels = emulation::counters().kernels;
  ASSERT_GT(kernels, 0);
  for (const std::int64_t k : {std::int64_t{1}, (kernels + 1) / 2, kernels}) {
    emulation::reset();
    emulation::fail_kernel(k, cudaErrorIllegalAddress);
    const Outcome outcome = outcome_of(GetParam());
    ASSERT_TRUE(outcome.error) << "kernel " << k << " of " << kernels;
    EXPECT_THAT(*outcome.error, HasSubstr("illegal memory access"));
  }
}

INSTANTIATE_TEST_SUITE_P(Sweeps, EngineFaults, testing::ValuesIn(sweeps()), sweep_name);

} // namespace
} // namespace diffbench::mlp
