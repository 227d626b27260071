// SPDX-License-Identifier: Apache-2.0
// What every owner of device resources must stand: each call of the CUDA runtime, and of cuBLASLt,
// that it makes in its life is made to fail once, and some of its kernels. An error that names the
// call must come, nothing may leak, and the next life must work.
#pragma once

#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <emulation/control.hpp>

namespace diffbench::emulation {

/// From making it to its end, with everything that it can do: short, since a sweep lives it once
/// for each of its calls. Returns the calls until then; those that follow are the destructor's.
using Life = std::function<std::int64_t()>;

struct LifeOutcome {
  std::optional<std::string> error;
  std::int64_t calls_before_end = 0;
  std::string log; ///< stderr
};

inline LifeOutcome outcome_of(const Life& life) {
  LifeOutcome outcome;
  ::testing::internal::CaptureStderr();
  try {
    outcome.calls_before_end = life();
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  outcome.log = ::testing::internal::GetCapturedStderr();
  return outcome;
}

/// A call that only destructors make, those of what lives shortly too.
inline bool gives_back(const std::string& call) {
  constexpr std::array verbs = {"Free", "Destroy", "Unregister"};
  return std::ranges::any_of(
      verbs, [&call](const char* verb) { return call.find(verb) != std::string::npos; });
}

/// That `call` failed: by an error, or where a destructor made it, in the log.
inline void expect_told(const LifeOutcome& outcome, const std::string& call, bool by_destructor) {
  using ::testing::AllOf, ::testing::AnyOf, ::testing::HasSubstr, ::testing::Not;
  const auto says_why = AnyOf(HasSubstr("out of memory"), HasSubstr("ALLOC_FAILED"));
  if (outcome.error) {
    EXPECT_THAT(*outcome.error, AllOf(HasSubstr(call + "("), says_why, Not(HasSubstr("\n"))));
  } else {
    // A destructor cannot throw, but it does not keep silent either.
    EXPECT_TRUE(by_destructor) << "the failure was swallowed";
    EXPECT_THAT(outcome.log, AllOf(HasSubstr(call + "("), says_why));
  }
}

/// Every call of a life, of which it makes more than `least` before its end. A failure of one in
/// `asking` may be taken for an answer: there is no such device, without which the life goes on, or
/// says that the backend is not available.
inline void expect_every_call_fails_cleanly(const Life& life, std::int64_t least,
                                            const std::set<std::string>& asking = {}) {
  // What is kept for the process, such as the names of the devices, is there before calls count.
  reset();
  ASSERT_EQ(outcome_of(life).error, std::nullopt);
  reset();
  const LifeOutcome healthy = outcome_of(life);
  ASSERT_EQ(healthy.error, std::nullopt);
  ASSERT_THAT(healthy.log, ::testing::IsEmpty());
  ASSERT_GT(healthy.calls_before_end, least);
  const std::int64_t calls = counters().calls;
  for (std::int64_t k = 1; k <= calls; ++k) {
    reset();
    fail_call(k, cudaErrorMemoryAllocation);
    const LifeOutcome outcome = outcome_of(life);
    const std::string call = failed_call();
    clear_faults();
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls) + ", " + call);
    ASSERT_FALSE(call.empty());
    const bool answered =
        asking.contains(call) &&
        (!outcome.error || outcome.error->find("is not available") != std::string::npos);
    if (!answered) {
      expect_told(outcome, call, gives_back(call) || k > healthy.calls_before_end);
    }
    EXPECT_THAT(live_resources(), ::testing::IsEmpty());
    EXPECT_THAT(take_reports(), ::testing::IsEmpty());
  }
  reset();
  EXPECT_EQ(outcome_of(life).error, std::nullopt);
}

/// The first kernel of a life, one in its middle, and the last.
inline void expect_kernel_faults_arrive(const Life& life) {
  reset();
  ASSERT_EQ(outcome_of(life).error, std::nullopt);
  const std::int64_t kernels = counters().kernels;
  ASSERT_GT(kernels, 0);
  for (const std::int64_t k : {std::int64_t{1}, (kernels + 1) / 2, kernels}) {
    reset();
    fail_kernel(k, cudaErrorIllegalAddress);
    const LifeOutcome outcome = outcome_of(life);
    ASSERT_TRUE(outcome.error) << "kernel " << k << " of " << kernels;
    EXPECT_THAT(*outcome.error, ::testing::HasSubstr("illegal memory access"));
  }
  reset();
}

/// The codes of a lost context, and what of their message says what to do.
constexpr std::pair<cudaError_t, const char*> losses[] = {
    {cudaErrorECCUncorrectable, "reset the card"},
    {cudaErrorIllegalAddress, "compute-sanitizer"},
    {cudaErrorLaunchTimeout, "--device"},
    {cudaErrorAssert, "compute-sanitizer"},
    {cudaErrorHardwareStackError, "compute-sanitizer"},
    {cudaErrorIllegalInstruction, "compute-sanitizer"},
    {cudaErrorMisalignedAddress, "compute-sanitizer"},
    {cudaErrorInvalidAddressSpace, "compute-sanitizer"},
    {cudaErrorInvalidPc, "compute-sanitizer"},
    {cudaErrorLaunchFailure, "compute-sanitizer"},
};

/// A kernel's fault loses the context: told in one line with its name and what to do, once and by
/// no destructor again; the next life cannot begin, for the same reason.
inline void expect_losses_are_told(const Life& life) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not;
  for (const auto& [code, remedy] : losses) {
    SCOPED_TRACE(cudaGetErrorName(code));
    reset();
    fail_kernel(1, code);
    const LifeOutcome outcome = outcome_of(life);
    EXPECT_EQ(failed_call(), "kernel");
    EXPECT_THAT(live_resources(), ::testing::IsEmpty());
    EXPECT_THAT(outcome.log, ::testing::IsEmpty());
    const LifeOutcome next = outcome_of(life);
    for (const LifeOutcome& each : {outcome, next}) {
      EXPECT_THAT(each.error.value_or("no error"),
                  AllOf(HasSubstr(cudaGetErrorName(code)), HasSubstr(cudaGetErrorString(code)),
                        HasSubstr(remedy), HasSubstr("Nothing more runs on the card"),
                        Not(HasSubstr("\n"))));
    }
  }
  reset();
}

} // namespace diffbench::emulation
