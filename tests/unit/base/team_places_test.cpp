// SPDX-License-Identifier: Apache-2.0
#include "diffbench/machine.hpp"
#include "diffbench/workers.hpp"

#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <sched.h>

namespace diffbench {
namespace {

using testing::Each;
using testing::ElementsAreArray;

/// Sends the calling thread to one CPU, and at the end lets it go.
class OnCpu {
 public:
  explicit OnCpu(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_getaffinity(0, sizeof before_, &before_);
    sched_setaffinity(0, sizeof only, &only);
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  ~OnCpu() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

/// Where each thread of the team but the caller may run.
std::vector<std::vector<int>> others(Workers& team) {
  std::vector<std::vector<int>> allowed(static_cast<std::size_t>(team.count()));
  team.run([&](int thread) { allowed[static_cast<std::size_t>(thread)] = affinity(); });
  allowed.erase(allowed.begin());
  return allowed;
}

class TeamPlacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cpus_.size() < 2 || cpus_.back() >= CPU_SETSIZE) {
      GTEST_SKIP() << "needs two CPUs";
    }
  }
  [[nodiscard]] std::vector<int> cpus_but(int cpu) const {
    std::vector<int> cpus = cpus_;
    std::erase(cpus, cpu);
    return cpus;
  }
  std::vector<int> cpus_ = affinity();
};

TEST_F(TeamPlacesTest, AllStayOffTheCallersCpuWhereverItGoes) {
  Workers team(2);
  for (const int cpu : {cpus_.front(), cpus_.back(), cpus_.back(), cpus_.front()}) {
    const OnCpu here(cpu);
    EXPECT_THAT(others(team), Each(ElementsAreArray(cpus_but(cpu)))) << cpu;
  }
}

TEST_F(TeamPlacesTest, AsManyThreadsAsCpusHaveOneEach) {
  Workers team(static_cast<int>(cpus_.size()));
  for (const int cpu : {cpus_.back(), cpus_.front()}) {
    const OnCpu here(cpu);
    std::set<int> taken{cpu};
    for (const std::vector<int>& allowed : others(team)) {
      ASSERT_EQ(allowed.size(), 1U) << cpu;
      taken.insert(allowed.front());
    }
    EXPECT_EQ(taken.size(), cpus_.size()) << cpu;
  }
}

TEST_F(TeamPlacesTest, MoreThreadsThanCpusRunAnywhere) {
  Workers team(static_cast<int>(cpus_.size()) + 1);
  EXPECT_THAT(others(team), Each(ElementsAreArray(cpus_)));
}

TEST_F(TeamPlacesTest, ATeamKeepsToTheCpusThatItsMakerMayUse) {
  const OnCpu here(cpus_.back());
  Workers team(2); // two on one CPU: nobody is placed
  EXPECT_THAT(others(team), Each(ElementsAreArray({cpus_.back()})));
}

} // namespace
} // namespace diffbench
