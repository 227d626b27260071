// SPDX-License-Identifier: Apache-2.0
// Backends that honour --threads: the bits do not depend on the number of threads, also with more
// threads than CPUs and more than rows. A program of its own, for the thread sanitizer.
#include "session_checks.hpp"
#include "target.hpp"

#include <array>
#include <thread>
#include <utility>

namespace diffbench::conformance {
namespace {

constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {
    {3, 3}, {5, 7}, {31, 33}, {17, 4}, {127, 257}, {3, 1000}, {1000, 3}, {1030, 70}};

class ThreadsTest : public BackendTest {
 protected:
  template <typename T>
  static SessionMaker<T> with_threads(int threads) {
    return maker_of<T>(GetParam().backend, {.threads = threads, .isa = std::nullopt});
  }
};

TEST_P(ThreadsTest, SameBitsWithEveryNumberOfThreads) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    for (const auto& [nx, ny] : sizes) {
      // One more than there are rows, but no more than a sanitizer can bear.
      const int beyond_rows = static_cast<int>(std::min<std::int64_t>(ny + 1, 40));
      for (const int threads : {1, 2, 3, 5, beyond_rows}) {
        EXPECT_TRUE(matches_oracle(with_threads<T>(threads), problem_of<T>(nx, ny, boundary),
                                   field_of<T>(Content::random, nx, ny), {0, 1, 2, 17}))
            << threads << " threads";
      }
    }
  });
}

TEST_P(ThreadsTest, RunsOnTheNumberAskedFor) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const Problem problem = problem_of<T>(127, 257, boundary);
    const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
    for (const int threads : {1, 2, 3, 5}) {
      const auto session = with_threads<T>(threads)(problem);
      session->upload(initial.cells());
      session->advance(1);
      session->wait();
      EXPECT_EQ(session->provenance().threads, threads);
    }
    const int chosen = with_threads<T>(0)(problem)->provenance().threads;
    EXPECT_GE(chosen, 1);
    EXPECT_LE(chosen, usable_cpus());
  });
}

TEST_P(ThreadsTest, KeepsTheSessionsPromises) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const Problem problem = problem_of<T>(61, 43, boundary);
    for (const int threads : {2, 3}) {
      const SessionMaker<T> make = with_threads<T>(threads);
      EXPECT_TRUE(splits(make, problem)) << threads << " threads";
      EXPECT_TRUE(starts_anew(make, problem)) << threads << " threads";
      EXPECT_TRUE(replaces_rows(make, problem)) << threads << " threads";
      EXPECT_TRUE(keeps_apart(make, problem)) << threads << " threads";
      destroy_at_every_point(make, problem);
    }
  });
}

// A session belongs to one thread; two sessions in two threads share nothing.
TEST_P(ThreadsTest, SessionsRunSideBySide) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const Problem problem = problem_of<T>(61, 43, boundary);
    const SessionMaker<T> make = with_threads<T>(2);
    std::array<bool, 2> same = {};
    {
      std::array<std::jthread, 2> users;
      for (std::size_t user = 0; user < users.size(); ++user) {
        users[user] = std::jthread([&, user] {
          const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny, user);
          same[user] = static_cast<bool>(matches_oracle(make, problem, initial, {17, 40}));
        });
      }
    }
    EXPECT_TRUE(same[0]);
    EXPECT_TRUE(same[1]);
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ThreadsTest);
INSTANTIATE_TEST_SUITE_P(Threaded, ThreadsTest, testing::ValuesIn(threaded_targets()), test_name);

} // namespace
} // namespace diffbench::conformance
