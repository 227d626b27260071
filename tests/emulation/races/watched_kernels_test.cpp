// SPDX-License-Identifier: Apache-2.0
// That the kernels of this program are those that are watched: what else it has are tests of
// others, which fail when anything is reported, a race too.
#include "emulation/control.hpp"

#include "diffbench/registry.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace diffbench {
namespace {

// A cell is read and written each step, or each few.
TEST(WatchedKernels, OfEveryBackendSayWhatTheyAccess) {
  for (const BackendInfo& backend : all_backends()) {
    if (backend.device != DeviceKind::emulated) {
      continue;
    }
    emulation::reset();
    Problem problem;
    problem.nx = problem.ny = 40;
    const auto session = backend.make<float>()(problem, {});
    session->upload(std::vector<float>(40 * 40));
    session->wait();
    const std::int64_t before = emulation::counters().accesses;
    session->advance(16);
    session->wait();
    EXPECT_GT(emulation::counters().accesses - before, 40 * 40 / 4) << backend.name;
  }
}

} // namespace
} // namespace diffbench
