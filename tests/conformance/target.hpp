// SPDX-License-Identifier: Apache-2.0
// The test parameter: a registered backend with a dtype. The list is made from the registry at run
// time, so a new backend is under test as soon as it is compiled.
#pragma once

#include "oracle_check.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace diffbench::conformance {

struct Target {
  BackendInfo backend;
  Dtype dtype = Dtype::float32;
};

inline std::string name_of(const Target& target) {
  return std::string(target.backend.name) + "_" + std::string(to_string(target.dtype));
}
inline std::ostream& operator<<(std::ostream& stream, const Target& target) {
  return stream << name_of(target);
}
inline std::string test_name(const testing::TestParamInfo<Target>& info) {
  return name_of(info.param);
}

inline std::vector<Target> targets_of(const std::vector<BackendInfo>& backends) {
  std::vector<Target> targets;
  for (const BackendInfo& backend : backends) {
    targets.push_back({backend, Dtype::float32});
    targets.push_back({backend, Dtype::float64});
  }
  return targets;
}
/// Emulated backends have a program of their own (emulated_test.cpp): at the sizes of the others
/// they would take minutes.
inline std::vector<BackendInfo> backends_where(bool emulated) {
  std::vector<BackendInfo> backends = all_backends();
  std::erase_if(backends, [emulated](const BackendInfo& backend) {
    return (backend.device == DeviceKind::emulated) != emulated;
  });
  return backends;
}
inline std::vector<Target> all_targets() { return targets_of(backends_where(false)); }
inline std::vector<Target> emulated_targets() { return targets_of(backends_where(true)); }

/// Those that honour SessionOptions::threads.
inline std::vector<Target> threaded_targets() {
  std::vector<BackendInfo> threaded = backends_where(false);
  std::erase_if(threaded, [](const BackendInfo& backend) { return !backend.threaded; });
  return targets_of(threaded);
}

class BackendTest : public testing::TestWithParam<Target> {
 protected:
  // A CPU backend that cannot run here is a defect; one for a device may lack its device.
  void SetUp() override {
    const Probe probe = GetParam().backend.probe(0);
    if (!probe.available) {
      ASSERT_EQ(GetParam().backend.device, DeviceKind::cuda) << probe.reason;
      GTEST_SKIP() << probe.reason;
    }
  }

  /// Whether the backend says, with Unavailable, that its device cannot hold a grid of this size,
  /// as one that keeps the field on the chip may. Every device holds 64x64 cells.
  template <typename T>
  static bool refuses(const Problem& problem) {
    const BackendInfo& backend = GetParam().backend;
    if (backend.device == DeviceKind::cpu || problem.cells() <= 64 * 64) {
      return false;
    }
    try {
      (void)backend.make<T>()(problem, {});
      return false;
    } catch (const Unavailable&) {
      return true;
    }
  }

  /// Runs body.operator()<T>(boundary) with the target's type for every boundary condition.
  template <typename Body>
  static void for_each_boundary(Body body) {
    for (const Boundary boundary : all_boundaries) {
      SCOPED_TRACE(to_string(boundary));
      if (GetParam().dtype == Dtype::float32) {
        body.template operator()<float>(boundary);
      } else {
        body.template operator()<double>(boundary);
      }
    }
  }
};

} // namespace diffbench::conformance
