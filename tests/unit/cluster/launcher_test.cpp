// SPDX-License-Identifier: Apache-2.0
// What the environment says of a launcher, without any.
#include "diffbench/cluster/launcher.hpp"

#include "diffbench/errors.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Variables = std::map<std::string, std::string>;

std::optional<Launcher> launched(const Variables& variables) {
  return launched_ranks([&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void expect_launcher(const Variables& variables, const std::string& variable,
                     std::optional<int> ranks) {
  const std::optional<Launcher> launcher = launched(variables);
  ASSERT_TRUE(launcher.has_value()) << variable;
  EXPECT_EQ(launcher->variable, variable);
  EXPECT_EQ(launcher->ranks, ranks);
}

TEST(Launcher, IsNoneInABareEnvironment) {
  EXPECT_FALSE(launched({}));
  EXPECT_FALSE(launched({{"PATH", "/bin"}, {"OMPI_MCA_btl", "self"}}));
  EXPECT_FALSE(launched({{"OMPI_COMM_WORLD_SIZE", ""}, {"PMIX_RANK", ""}}));
}

TEST(Launcher, SaysHowManyRanks) {
  expect_launcher({{"OMPI_COMM_WORLD_SIZE", "4"}}, "OMPI_COMM_WORLD_SIZE", 4);
  expect_launcher({{"MV2_COMM_WORLD_SIZE", "3"}}, "MV2_COMM_WORLD_SIZE", 3);
  expect_launcher({{"PMI_SIZE", "1"}}, "PMI_SIZE", 1);
  expect_launcher({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "0"}}, "SLURM_STEP_NUM_TASKS",
                  8);
}

TEST(Launcher, NeedNotSayHowMany) {
  expect_launcher({{"PMIX_RANK", "2"}}, "PMIX_RANK", std::nullopt);
}

TEST(Launcher, MayBeMalformed) {
  for (const char* value : {"four", "4 ", "-1", "0", "99999999999", "4.0"}) {
    SCOPED_TRACE(value);
    expect_launcher({{"OMPI_COMM_WORLD_SIZE", value}}, "OMPI_COMM_WORLD_SIZE", std::nullopt);
  }
}

TEST(Launcher, IsTheInnermost) {
  // mpirun starts its daemons by srun, one a machine, and they start the ranks.
  expect_launcher({{"SLURM_STEP_NUM_TASKS", "2"},
                   {"SLURM_PROCID", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "64"},
                   {"PMIX_RANK", "3"}},
                  "OMPI_COMM_WORLD_SIZE", 64);
}

TEST(Launcher, SaysWhichRankThisIs) {
  const auto rank = [](const Variables& variables) { return launched(variables)->rank; };
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}), 3);
  EXPECT_EQ(rank({{"MV2_COMM_WORLD_SIZE", "4"}, {"MV2_COMM_WORLD_RANK", "2"}}), 2);
  EXPECT_EQ(rank({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}}), 1);
  EXPECT_EQ(rank({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "7"}}), 7);
  EXPECT_EQ(rank({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "5"}}), 5);
  EXPECT_EQ(rank({{"PMIX_RANK", "2"}}), 2);
  // That of another launcher is not asked.
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_PROCID", "1"}}), 0);
}

TEST(Launcher, LeavesAnUnknownRankTheFirst) {
  for (const char* value : {"", "two", "-1"}) {
    SCOPED_TRACE(value);
    EXPECT_EQ(launched({{"PMI_SIZE", "4"}, {"PMI_RANK", value}})->rank, 0);
  }
}

TEST(Launcher, IsNotABatchScript) { EXPECT_FALSE(launched({{"SLURM_STEP_NUM_TASKS", "4"}})); }

TEST(MatchingSize, RefusesALauncherOfAnotherMpi) {
  try {
    require_matching_size(Launcher{"PMI_SIZE", 4}, 1);
    FAIL() << "nothing was thrown";
  } catch (const Unavailable& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("4 ranks (PMI_SIZE)"), HasSubstr("that MPI's mpirun"),
                                    HasSubstr("unset PMI_SIZE"), Not(HasSubstr("\n"))));
  }
}

TEST(MatchingSize, TakesWhatAgreesOrSaysNothing) {
  EXPECT_NO_THROW(require_matching_size(std::nullopt, 1));
  EXPECT_NO_THROW(require_matching_size(Launcher{"PMI_SIZE", 1}, 1));
  EXPECT_NO_THROW(require_matching_size(Launcher{"PMI_SIZE", 4}, 4));
  EXPECT_NO_THROW(require_matching_size(Launcher{"PMIX_RANK", std::nullopt}, 1));
}

} // namespace
} // namespace diffbench::cluster
