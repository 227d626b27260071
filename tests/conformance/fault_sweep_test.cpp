// Every call of the CUDA runtime that a session makes is made to fail once: an error that names the
// call must come, nothing may leak, and the next session must work.
#include "oracle_check.hpp"
#include "target.hpp"

#include <gmock/gmock.h>
#include <emulation/control.hpp>

#include <optional>
#include <string>

namespace diffbench::conformance {
namespace {

class FaultSweepTest : public BackendTest {};

const Problem sweep_problem = problem_of<float>(13, 11, Boundary::periodic);

// One life of a session, with everything that it can do.
void live(const BackendInfo& backend) {
  const Field<float> initial = field_of<float>(Content::random, sweep_problem.nx, sweep_problem.ny);
  Field<float> result(sweep_problem.nx, sweep_problem.ny);
  SessionOptions options;
  options.transfer = Transfer::pinned;
  options.async = true;
  const auto session = backend.make<float>()(sweep_problem, options);
  session->upload(initial.cells());
  session->advance(150);
  session->start_download(result.cells());
  session->advance(3);
  session->wait();
  session->download(result.cells());
}

std::optional<std::string> failure_of(const BackendInfo& backend) {
  try {
    live(backend);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

// Calls that only give something back: a destructor that cannot throw makes them, and says so on
// stderr.
bool gives_back(const std::string& call) {
  for (const char* verb : {"Free", "Destroy", "Unregister"}) {
    if (call.find(verb) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Those that a destructor makes before it gives back. They fail there without an exception, and
// with one elsewhere.
bool may_be_silent(const std::string& call) {
  return gives_back(call) || call == "cudaStreamSynchronize" || call == "cudaSetDevice";
}

TEST_P(FaultSweepTest, EveryCallFailsCleanly) {
  const BackendInfo& backend = GetParam().backend;
  emulation::reset();
  ASSERT_EQ(failure_of(backend), std::nullopt);
  const std::int64_t calls = emulation::counters().calls;
  ASSERT_GT(calls, 10);
  std::int64_t thrown = 0;
  for (std::int64_t k = 1; k <= calls; ++k) {
    emulation::reset();
    emulation::fail_call(k, cudaErrorMemoryAllocation);
    const std::optional<std::string> failure = failure_of(backend);
    const std::string call = emulation::failed_call();
    emulation::clear_faults();
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) + ", " + call);
    ASSERT_FALSE(call.empty());
    if (failure) {
      ++thrown;
      EXPECT_THAT(*failure, testing::HasSubstr("out of memory"));
      EXPECT_THAT(*failure, testing::Not(testing::HasSubstr("\n")));
    } else {
      EXPECT_TRUE(may_be_silent(call)) << "the failure was swallowed";
    }
    EXPECT_THAT(emulation::live_resources(), testing::IsEmpty());
    EXPECT_THAT(emulation::take_reports(), testing::IsEmpty());
  }
  EXPECT_GT(thrown, calls / 2);
  emulation::reset();
  EXPECT_EQ(failure_of(backend), std::nullopt);
}

TEST_P(FaultSweepTest, AKernelsFaultArrives) {
  const BackendInfo& backend = GetParam().backend;
  emulation::reset();
  ASSERT_EQ(failure_of(backend), std::nullopt);
  const std::int64_t kernels = emulation::counters().kernels;
  ASSERT_GT(kernels, 0);
  for (std::int64_t k : {std::int64_t{1}, (kernels + 1) / 2, kernels}) {
    emulation::reset();
    emulation::fail_kernel(k, cudaErrorIllegalAddress);
    const std::optional<std::string> failure = failure_of(backend);
    ASSERT_TRUE(failure) << "kernel " << k << " of " << kernels;
    EXPECT_THAT(*failure, testing::HasSubstr("illegal memory access"));
  }
  emulation::reset();
}

INSTANTIATE_TEST_SUITE_P(Backends, FaultSweepTest,
                         testing::ValuesIn(targets_of(backends_where(true))), test_name);

} // namespace
} // namespace diffbench::conformance
