// SPDX-License-Identifier: Apache-2.0
// Every backend against NumPy itself, run live: the main job's grid, bit for bit, for 1000 steps
// under periodic boundaries and 100 under the others. The files are made by the fixture tests in
// CMakeLists.txt, so run this through ctest.
#include "cases.hpp"

#include "diffbench/npy.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::golden {
namespace {

const std::filesystem::path directory = DIFFBENCH_GOLDEN_DIRECTORY;

// Backends for which 1000 steps (3 to 10 seconds a run) are too many.
constexpr std::array<std::string_view, 2> slow_backends = {"xtensor_roll", "thrust_host_roll"};
constexpr int most_steps_of_slow_backends = 100;

struct Target {
  BackendInfo backend;
  Dtype dtype;
  InitialField::Kind initial;
};

std::string name_of(const Target& target) {
  return std::string(target.backend.name) + "_" + std::string(to_string(target.dtype)) + "_" +
         to_string(initial_of(target.initial));
}
std::ostream& operator<<(std::ostream& stream, const Target& target) {
  return stream << name_of(target);
}

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  for (const BackendInfo& backend : all_backends()) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const InitialField::Kind initial : initial_kinds) {
        targets.push_back({backend, dtype, initial});
      }
    }
  }
  return targets;
}

template <typename T>
void expect_numpys_bits(const Target& target, const Problem& problem) {
  const std::string name = case_name(target.initial, problem);
  const Field<T> initial = read_npy<T>(directory / (name + ".npy"));
  Field<T> field(problem.nx, problem.ny);

  const auto session = target.backend.make<T>()(problem, {});
  session->upload(initial.cells());
  const bool slow = std::ranges::count(slow_backends, target.backend.name) > 0;
  int done = 0;
  for (const int steps : steps_of(problem.boundary)) {
    if (slow && steps > most_steps_of_slow_backends) {
      break;
    }
    session->advance(steps - done);
    done = steps;
    session->download(field.cells());
    const Field<T> numpy = read_npy<T>(directory / (name + "_" + std::to_string(steps) + ".npy"));
    const Comparison comparison = compare<T>(field.cells(), numpy.cells());
    EXPECT_TRUE(comparison.bitwise)
        << name << " after " << steps << " steps: first difference in cell "
        << comparison.first_difference << ", max |error| " << comparison.max_abs_error;
  }
}

class ReferenceTest : public testing::TestWithParam<Target> {};

TEST_P(ReferenceTest, GivesNumpysBits) {
  const Target& target = GetParam();
  if (const Probe probe = target.backend.probe(0); !probe.available) {
    ASSERT_NE(target.backend.device, DeviceKind::cpu) << probe.reason;
    GTEST_SKIP() << probe.reason;
  }
  for (const Boundary boundary : boundaries) {
    const Problem problem = problem_of(target.dtype, boundary);
    if (target.dtype == Dtype::float32) {
      expect_numpys_bits<float>(target, problem);
    } else {
      expect_numpys_bits<double>(target, problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ReferenceTest, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return name_of(target.param); });

} // namespace
} // namespace diffbench::golden
