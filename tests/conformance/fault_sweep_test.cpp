// SPDX-License-Identifier: Apache-2.0
// Every call of the CUDA runtime that a session makes fails once.
#include "oracle_check.hpp"

#include "diffbench/registry.hpp"

#include <emulation/fault_sweep.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace diffbench::conformance {
namespace {

struct Sweep {
  BackendInfo backend;
  Transfer transfer;
};

// Every backend, and one for each way of copying: the kernels have nothing to do with it.
std::vector<Sweep> sweeps() {
  std::vector<Sweep> sweeps;
  for (const BackendInfo& backend : all_backends()) {
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

// emulation::Life of a session.
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

class FaultSweepTest : public testing::TestWithParam<Sweep> {};

TEST_P(FaultSweepTest, EveryCallFailsCleanly) {
  emulation::expect_every_call_fails_cleanly([] { return live(GetParam()); }, 10);
}

TEST_P(FaultSweepTest, AKernelsFaultArrives) {
  emulation::expect_kernel_faults_arrive([] { return live(GetParam()); });
}

TEST_P(FaultSweepTest, ALostContextIsToldOnce) {
  emulation::expect_losses_are_told([] { return live(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Sweeps, FaultSweepTest, testing::ValuesIn(sweeps()), sweep_name);

} // namespace
} // namespace diffbench::conformance
