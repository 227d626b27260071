// SPDX-License-Identifier: Apache-2.0
// The checks of every transport (transport_checks.hpp), run by threads, one a rank.
#include "diffbench/cluster/thread_transport.hpp"

#include "../../cluster/transport_checks.hpp"

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace diffbench::cluster {
namespace {

/// Runs it on all ranks; the first that fails ends the others. Returns how it failed, or nothing.
std::string failure_of(ThreadRanks& ranks, int count,
                       const std::function<void(Transport&)>& run_rank) {
  std::mutex mutex;
  std::string first;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      Transport& transport = ranks.transport(rank);
      try {
        run_rank(transport);
      } catch (const std::exception& error) {
        {
          const std::lock_guard lock(mutex);
          first = first.empty() ? "rank " + std::to_string(rank) + ": " + error.what() : first;
        }
        transport.end_all("a check failed");
      }
    });
  }
  threads.clear(); // joins
  return first;
}

class ThreadTransportTest : public testing::TestWithParam<int> {};

TEST_P(ThreadTransportTest, DoesWhatEveryTransportMust) {
  ThreadRanks ranks(GetParam());
  for (const checks::Check& check : checks::lasting) {
    EXPECT_EQ(failure_of(ranks, GetParam(),
                         [&](Transport& transport) {
                           transport.set_time_limit(20);
                           check.run(transport);
                         }),
              "")
        << check.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ThreadTransportTest, testing::Values(1, 2, 3, 5));

TEST(ThreadTransportEndTest, EndsAllFromOneRank) {
  for (const checks::LastCheck& check : checks::last) {
    ThreadRanks ranks(2);
    EXPECT_EQ(
        failure_of(ranks, 2, [&](Transport& transport) { checks::run_last(check, transport); }), "")
        << check.name;
  }
}

} // namespace
} // namespace diffbench::cluster
