// Every call of the CUDA runtime that a session makes is made to fail once: an error that names the
// call must come, nothing may leak, and the next session must work.
#include "oracle_check.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <gmock/gmock.h>
#include <emulation/control.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::conformance {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Sweep {
  BackendInfo backend;
  Transfer transfer;
};

// Every backend, and one for each way of copying: the kernels have nothing to do with it.
std::vector<Sweep> sweeps() {
  std::vector<Sweep> sweeps;
  for (const BackendInfo& backend : backend_ladder()) {
    if (backend.device == DeviceKind::emulated) {
      sweeps.push_back({backend, Transfer::pinned});
    }
    if (backend.name == "cuda_naive") {
      for (const Transfer transfer :
           {Transfer::pageable, Transfer::registered, Transfer::write_combined, Transfer::mapped,
            Transfer::managed}) {
        sweeps.push_back({backend, transfer});
      }
    }
  }
  return sweeps;
}

std::string sweep_name(const testing::TestParamInfo<Sweep>& info) {
  std::string name =
      std::string(info.param.backend.name) + "_" + std::string(to_string(info.param.transfer));
  std::ranges::replace(name, '-', '_');
  return name;
}

const Problem sweep_problem = problem_of<float>(13, 11, Boundary::periodic);

struct Outcome {
  std::optional<std::string> error;
  std::int64_t calls_before_end = 0; ///< those that follow are the destructor's
  std::string log;                   ///< stderr
};

// One life of a session, with everything that it can do: short, since the sweep lives it once for
// each of its calls.
std::int64_t live(const Sweep& sweep) {
  const Field<float> initial = field_of<float>(Content::random, sweep_problem.nx, sweep_problem.ny);
  Field<float> result(sweep_problem.nx, sweep_problem.ny);
  SessionOptions options;
  options.transfer = sweep.transfer;
  options.async = true;
  const auto session = sweep.backend.make<float>()(sweep_problem, options);
  session->upload(initial.cells());
  session->advance(22);
  session->start_download(result.cells());
  session->advance(22);
  session->wait();
  session->download(result.cells());
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

// Calls that only destructors make, those of what lives shortly too.
bool gives_back(const std::string& call) {
  constexpr std::array verbs = {"Free", "Destroy", "Unregister"};
  return std::ranges::any_of(
      verbs, [&call](const char* verb) { return call.find(verb) != std::string::npos; });
}

class FaultSweepTest : public testing::TestWithParam<Sweep> {
 protected:
  // What is kept for the process, such as the names of the devices, is there before calls count.
  void SetUp() override {
    emulation::reset();
    ASSERT_EQ(outcome_of(GetParam()).error, std::nullopt);
    emulation::reset();
  }
};

TEST_P(FaultSweepTest, EveryCallFailsCleanly) {
  const Outcome healthy = outcome_of(GetParam());
  ASSERT_EQ(healthy.error, std::nullopt);
  ASSERT_THAT(healthy.log, IsEmpty());
  const std::int64_t calls = emulation::counters().calls;
  ASSERT_GT(healthy.calls_before_end, 10);
  for (std::int64_t k = 1; k <= calls; ++k) {
    emulation::reset();
    emulation::fail_call(k, cudaErrorMemoryAllocation);
    const Outcome outcome = outcome_of(GetParam());
    const std::string call = emulation::failed_call();
    emulation::clear_faults();
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) + ", " + call);
    ASSERT_FALSE(call.empty());
    if (outcome.error) {
      EXPECT_THAT(*outcome.error,
                  AllOf(HasSubstr(call + "("), HasSubstr("out of memory"), Not(HasSubstr("\n"))));
    } else {
      // A destructor cannot throw, but it does not keep silent either.
      EXPECT_TRUE(gives_back(call) || k > healthy.calls_before_end) << "the failure was swallowed";
      EXPECT_THAT(outcome.log, AllOf(HasSubstr(call + "("), HasSubstr("out of memory")));
    }
    EXPECT_THAT(emulation::live_resources(), IsEmpty());
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
  }
  emulation::reset();
  EXPECT_EQ(outcome_of(GetParam()).error, std::nullopt);
}

TEST_P(FaultSweepTest, AKernelsFaultArrives) {
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
  emulation::reset();
}

INSTANTIATE_TEST_SUITE_P(Sweeps, FaultSweepTest, testing::ValuesIn(sweeps()), sweep_name);

} // namespace
} // namespace diffbench::conformance
