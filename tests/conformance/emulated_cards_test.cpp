// SPDX-License-Identifier: Apache-2.0
// The GPU backends within the limits of each kind of card that the package has machine code for:
// the oracle's bits, or a refusal that is known here.
#include "oracle_check.hpp"
#include "target.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <emulation/cards.hpp>
#include <emulation/control.hpp>

#include <algorithm>
#include <string>
#include <tuple>

namespace diffbench::conformance {
namespace {

constexpr int cards[] = {75, 80, 86, 89, 90, 100, 120};

class EmulatedCardsTest : public testing::TestWithParam<std::tuple<Target, int>> {
 protected:
  void SetUp() override {
    emulation::reset({.devices = {emulation::card(std::get<int>(GetParam()))}});
  }
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), testing::IsEmpty());
    EXPECT_THAT(emulation::live_resources(), testing::IsEmpty());
    emulation::reset();
  }

  template <typename T>
  static void expect_oracle(std::int64_t nx, std::int64_t ny) {
    const BackendInfo& backend = std::get<Target>(GetParam()).backend;
    const SessionMaker<T> make = [&](const Problem& problem) {
      return backend.make<T>()(problem, {});
    };
    for (const Boundary boundary : {Boundary::periodic, Boundary::dirichlet}) {
      EXPECT_TRUE(matches_oracle(make, problem_of<T>(nx, ny, boundary),
                                 field_of<T>(Content::random, nx, ny), {1, 17}))
          << nx << "x" << ny;
    }
  }
  static void expect_oracle(std::int64_t nx, std::int64_t ny) {
    if (std::get<Target>(GetParam()).dtype == Dtype::float32) {
      expect_oracle<float>(nx, ny);
    } else {
      expect_oracle<double>(nx, ny);
    }
  }
};

TEST_P(EmulatedCardsTest, HasTheOraclesBits) {
  const Probe probe = std::get<Target>(GetParam()).backend.probe(0);
  ASSERT_TRUE(probe.available) << probe.reason;
  expect_oracle(17, 5);
  const auto& [target, capability] = GetParam();
  if (target.backend.name == "cuda_persistent" && target.dtype == Dtype::float64 &&
      capability == 75) {
    EXPECT_THAT([] { expect_oracle(130, 70); },
                testing::ThrowsMessage<Unavailable>(testing::HasSubstr(
                    "a grid of 130x70 in float64 does not fit on the chip of ")));
    return;
  }
  expect_oracle(130, 70); // several tiles, of all threads that a block may have
}

const BackendInfo& naive_backend() {
  return *std::ranges::find(all_backends(), "cuda_naive", &BackendInfo::name);
}

/// Of a step; empty where there is no complaint.
std::string complaint_of_a_step() {
  try {
    const Problem problem = problem_of<float>(8, 8, Boundary::periodic);
    const auto session = naive_backend().make<float>()(problem, {});
    session->upload(field_of<float>(Content::random, 8, 8).cells());
    session->advance(1);
    session->wait();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EmulatedCard, WithAnOldDriverSaysBothVersions) {
  emulation::reset({.old_driver = 12020});
  EXPECT_THAT(naive_backend().probe(0).reason,
              testing::MatchesRegex("the NVIDIA driver is for CUDA 12.2, and this program needs "
                                    "[0-9.]+: update the driver, or build with an older toolkit"));
  emulation::reset();
}

TEST(EmulatedCard, ThatAnotherProgramHasForItselfIsNamedAsSuch) {
  emulation::reset();
  int calls = 0;
  std::string complaint;
  do { // until it is the call that makes the context
    emulation::reset();
    emulation::fail_call(++calls, cudaErrorDevicesUnavailable);
    complaint = complaint_of_a_step();
  } while (emulation::failed_call() != "cudaFree");
  EXPECT_THAT(complaint, testing::HasSubstr("another program has the card for itself, or it is "
                                            "closed to all (nvidia-smi -q -d COMPUTE): wait, "
                                            "choose another --device"));
  emulation::reset();
}

TEST(EmulatedCard, WithoutCodeForItIsRefusedWithTheRemedy) {
  emulation::DeviceSpec device;
  device.has_code = false;
  emulation::reset({.devices = {device}});
  EXPECT_THAT(complaint_of_a_step(), testing::HasSubstr("this build has no code for the card: set "
                                                        "-DDIFFBENCH_CUDA_ARCHITECTURES"));
  emulation::DeviceSpec old;
  old.compute_major = 5;
  emulation::reset({.devices = {old}});
  EXPECT_THAT(complaint_of_a_step(),
              testing::HasSubstr("has compute capability 5.0, and this build has "
                                 "code for "));
  emulation::reset();
}

INSTANTIATE_TEST_SUITE_P(Backends, EmulatedCardsTest,
                         testing::Combine(testing::ValuesIn(emulated_targets()),
                                          testing::ValuesIn(cards)),
                         [](const testing::TestParamInfo<std::tuple<Target, int>>& info) {
                           return name_of(std::get<Target>(info.param)) + "_" +
                                  std::to_string(std::get<int>(info.param));
                         });

} // namespace
} // namespace diffbench::conformance
