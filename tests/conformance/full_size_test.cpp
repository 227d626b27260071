// SPDX-License-Identifier: Apache-2.0
// Backend against oracle where it takes long: the main job's grid for 100 steps, and fields beyond
// the caches, where threaded backends change their plan. For release builds (label `slow`).
#include "oracle_check.hpp"
#include "target.hpp"

#include <utility>

namespace diffbench::conformance {
namespace {

class FullSizeTest : public BackendTest {};

TEST_P(FullSizeTest, SameBitsAt640After100Steps) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    if (refuses<T>(problem_of<T>(640, 640, boundary))) {
      return;
    }
    EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend), problem_of<T>(640, 640, boundary),
                               field_of<T>(Content::random, 640, 640), {100}));
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, FullSizeTest, testing::ValuesIn(all_targets()), test_name);

class BeyondCacheTest : public BackendTest {};

// The rungs below the plain loop make whole-array temporaries; they have no plan to change, and
// would take a minute here.
std::vector<Target> planning_targets() {
  std::vector<Target> targets = threaded_targets();
  std::erase_if(targets, [](const Target& target) { return target.backend.ladder < 40; });
  return targets;
}

// 40 to 80 MB a field: more than the last-level cache that one or two cores get. Thin fields of
// that size have rows, or columns, that by themselves leave the caches.
TEST_P(BeyondCacheTest, SameBits) {
  constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {
      {3203, 3109}, {1'000'003, 7}, {7, 1'000'003}};
  for_each_boundary([&]<typename T>(Boundary boundary) {
    for (const auto& [nx, ny] : sizes) {
      EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend), problem_of<T>(nx, ny, boundary),
                                 field_of<T>(Content::random, nx, ny), {19}));
    }
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BeyondCacheTest);
INSTANTIATE_TEST_SUITE_P(Threaded, BeyondCacheTest, testing::ValuesIn(planning_targets()),
                         test_name);

} // namespace
} // namespace diffbench::conformance
