// SPDX-License-Identifier: Apache-2.0
// The promises of backend.hpp for every registered backend: order of calls, independence of
// sessions, and what a backend tells about itself.
#include "session_checks.hpp"
#include "target.hpp"

#include <set>
#include <string>

namespace diffbench::conformance {
namespace {

class SessionTest : public BackendTest {
 protected:
  /// Runs a check with sessions of the backend, on a grid with odd sides.
  template <typename Check>
  static void with_maker(Check check) {
    for_each_boundary([&]<typename T>(Boundary boundary) {
      check(maker_of<T>(GetParam().backend), problem_of<T>(61, 43, boundary));
    });
  }
};

TEST_P(SessionTest, SplittingAnAdvanceChangesNothing) {
  with_maker([](const auto& make, const Problem& problem) { EXPECT_TRUE(splits(make, problem)); });
}

TEST_P(SessionTest, UploadStartsAnew) {
  with_maker(
      [](const auto& make, const Problem& problem) { EXPECT_TRUE(starts_anew(make, problem)); });
}

TEST_P(SessionTest, RowsCanBeReplaced) {
  with_maker(
      [](const auto& make, const Problem& problem) { EXPECT_TRUE(replaces_rows(make, problem)); });
}

// Few rows and many; more than a backend keeps in its caches, which may then take other ways.
TEST_P(SessionTest, RowsCanBeReplacedAtEverySize) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    for (const auto& [nx, ny] :
         {std::pair{3, 3}, std::pair{5, 7}, std::pair{130, 9}, std::pair{701, 523}}) {
      const auto problem = problem_of<T>(nx, ny, boundary);
      if (refuses<T>(problem)) {
        continue;
      }
      EXPECT_TRUE(replaces_rows(maker_of<T>(GetParam().backend), problem)) << nx << "x" << ny;
    }
  });
}

TEST_P(SessionTest, SessionsDoNotDisturbEachOther) {
  with_maker(
      [](const auto& make, const Problem& problem) { EXPECT_TRUE(keeps_apart(make, problem)); });
}

TEST_P(SessionTest, CanBeDestroyedAtAnyPoint) {
  with_maker(
      [](const auto& make, const Problem& problem) { destroy_at_every_point(make, problem); });
}

TEST_P(SessionTest, TellsWhatItIs) {
  const BackendInfo& backend = GetParam().backend;
  EXPECT_EQ(backend.description.find('\n'), std::string_view::npos);
  EXPECT_FALSE(backend.description.empty());
  ASSERT_NE(backend.memory_need, nullptr);
  with_maker([&](const auto& make, const Problem& problem) {
    const MemoryNeed need = backend.memory_need(problem, {});
    EXPECT_GE(need.host + need.device, problem.field_bytes());
    const Provenance provenance = make(problem)->provenance();
    EXPECT_GE(provenance.threads, 1);
    std::set<std::string> keys;
    for (const auto& [key, value] : provenance.facts()) {
      EXPECT_TRUE(keys.insert(key).second) << key << " comes twice";
      EXPECT_FALSE(value.empty()) << key;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, SessionTest, testing::ValuesIn(all_targets()), test_name);

} // namespace
} // namespace diffbench::conformance
