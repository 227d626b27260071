// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: the same bits as the oracle, however the field is cut, and an end of all when a
// message or a rank fails.
#include "thread_cluster.hpp"

#include "diffbench/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace diffbench::cluster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;

InitialField random_field(std::uint64_t seed) {
  return {.kind = InitialField::Kind::random, .seed = seed, .path = {}};
}

// --- bit identity -------------------------------------------------------------------------------

struct Case {
  RankJob job;
  int ranks = 1;
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
};

std::string describe(const Case& c) {
  const Problem& p = c.job.problem;
  return c.job.backend + " " + std::string(to_string(p.dtype)) + " " + std::to_string(p.nx) + "x" +
         std::to_string(p.ny) + " " + std::string(to_string(p.boundary)) + ", ranks " +
         std::to_string(c.ranks) + ", depth " + std::to_string(c.job.depth) + ", steps " +
         std::to_string(c.steps) + ", seed " + std::to_string(c.seed);
}

Case random_case(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(generator);
  };
  constexpr std::array backends = {"scalar", "fused", "xtensor", "simd", "simd", "simd"};
  Case c;
  c.seed = seed;
  c.ranks = static_cast<int>(between(1, 9));
  Problem& problem = c.job.problem;
  problem.nx = between(3, 70);
  problem.ny = std::max<std::int64_t>(3, between(2 * c.ranks, 2 * c.ranks + 90));
  problem.boundary = static_cast<Boundary>(between(0, 2));
  problem.boundary_value = problem.boundary == Boundary::dirichlet ? 0.25 : 0;
  problem.dtype = between(0, 1) == 0 ? Dtype::float32 : Dtype::float64;
  c.job.backend = backends[static_cast<std::size_t>(between(0, backends.size() - 1))];
  c.job.options.threads = static_cast<int>(between(1, 2));
  c.job.depth = std::min(between(1, 32), deepest_halo(problem, c.ranks));
  c.steps = between(0, 50);
  return c;
}

/// Empty when all is right.
template <typename T>
std::string wrong(const Case& c, Ranks& ranks) {
  const Problem& problem = c.job.problem;
  const auto session = ranks.make_session<T>(c.job);
  const Field<T> expected = reference<T>(problem, random_field(c.seed), c.steps);
  Field<T> field(problem.nx, problem.ny);

  // From what rank 0 has, and from what each rank makes.
  fill_initial(problem, random_field(c.seed), field);
  session->upload(field.cells());
  session->advance(c.steps / 3);
  session->advance(c.steps - c.steps / 3);
  session->download(field.cells());
  if (!compare<T>(field.cells(), expected.cells()).bitwise) {
    return "the downloaded field differs: " + describe(c);
  }
  session->initialise(random_field(c.seed));
  session->advance(c.steps);
  if (session->digest() != digest_of<T>(0, expected.cells())) {
    return "the digest differs: " + describe(c);
  }
  return "";
}

void expect_the_oracles_bits(std::uint64_t first_seed, std::uint64_t cases) {
  std::map<int, ThreadCluster> clusters; // by the number of ranks
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const Case c = random_case(seed);
    Ranks& ranks = clusters.try_emplace(c.ranks, c.ranks).first->second.leader();
    const std::string complaint =
        c.job.problem.dtype == Dtype::float32 ? wrong<float>(c, ranks) : wrong<double>(c, ranks);
    ASSERT_EQ(complaint, "");
  }
}

TEST(Ranks, GiveTheOraclesBitsHoweverTheFieldIsCut) { expect_the_oracles_bits(1, 150); }
TEST(RanksAtLength, GiveTheOraclesBitsHoweverTheFieldIsCut) { expect_the_oracles_bits(151, 3000); }

TEST(Ranks, CopyAPartOfTheRows) {
  ThreadCluster cluster(3);
  const Problem problem{.nx = 5, .ny = 17};
  const auto session =
      cluster.leader().make_session<float>({.backend = "simd", .problem = problem, .depth = 2});
  Field<float> field(5, 17);
  fill_initial(problem, random_field(1), field);
  session->upload(field.cells());
  std::vector<float> rows(5 * 9, 7.0F);
  session->upload_rows(4, rows); // of all three ranks
  std::ranges::copy(rows, field.row(4));
  advance_reference(problem, field, 5);
  session->advance(5);
  std::vector<float> seen(5 * 11 + 2, -1.0F);
  session->download_rows(3, std::span(seen).subspan(1, 5 * 11));
  EXPECT_TRUE(std::equal(seen.begin() + 1, seen.end() - 1, field.row(3)));
  EXPECT_EQ(seen.front(), -1.0F);
  EXPECT_EQ(seen.back(), -1.0F);
}

TEST(Ranks, TakeThePartOfOneOfThemOnTheWay) {
  ThreadCluster cluster(3);
  const Problem problem{.nx = 5, .ny = 18};
  const auto session =
      cluster.leader().make_session<float>({.backend = "fused", .problem = problem, .depth = 2});
  Field<float> field(5, 18);
  fill_initial(problem, random_field(1), field);
  session->upload(field.cells());
  session->advance(3);
  advance_reference(problem, field, 3);
  const std::vector<float> rows(5 * 2, 7.0F);
  session->upload_rows(13, rows);
  std::ranges::copy(rows, field.row(13));
  session->advance(4);
  advance_reference(problem, field, 4);
  EXPECT_EQ(session->digest(), digest_of<float>(0, field.cells()));
}

TEST(Ranks, HaveSeveralFieldsAtOnce) {
  ThreadCluster cluster(2);
  const Problem problem{.nx = 12, .ny = 10};
  const auto one =
      cluster.leader().make_session<float>({.backend = "simd", .problem = problem, .depth = 3});
  const auto other =
      cluster.leader().make_session<float>({.backend = "fused", .problem = problem, .depth = 1});
  one->initialise(random_field(1));
  other->initialise(random_field(2));
  one->advance(4);
  other->advance(9);
  EXPECT_EQ(one->digest(),
            digest_of<float>(0, reference<float>(problem, random_field(1), 4).cells()));
  EXPECT_EQ(other->digest(),
            digest_of<float>(0, reference<float>(problem, random_field(2), 9).cells()));
}

TEST(Ranks, ChooseADepthByTrying) {
  ThreadCluster cluster(2);
  const Problem problem{.nx = 40, .ny = 60};
  const auto session =
      cluster.leader().make_session<float>({.backend = "simd", .problem = problem, .depth = 0});
  EXPECT_GE(session->depth(), 1);
  EXPECT_LE(session->depth(), 30);
  session->initialise(random_field(1));
  session->advance(33);
  EXPECT_EQ(session->digest(),
            digest_of<float>(0, reference<float>(problem, random_field(1), 33).cells()));
}

TEST(Ranks, SayWhatRan) {
  ThreadCluster cluster(3, parse_network("10us,25GB/s"));
  const auto session = cluster.leader().make_session<float>(
      {.backend = "simd", .problem = {.nx = 30, .ny = 30}, .options = {.threads = 1}, .depth = 4});
  const auto details = session->provenance().facts();
  const auto has = [&](const char* key, const char* value) {
    return std::ranges::find(details, std::pair<std::string, std::string>(key, value)) !=
           details.end();
  };
  EXPECT_TRUE(has("ranks", "3"));
  EXPECT_TRUE(has("halo_depth", "4"));
  EXPECT_TRUE(has("transport", "threads, emulated network 10us,25GB/s"));
}

// Two steps of 100 ms and more are too long to try seven depths.
TEST(Ranks, TakeTheUsualDepthWhereTryingTakesTooLong) {
  for (const auto& [ny, depth] : {std::pair<std::int64_t, std::int64_t>{2048, 32}, {256, 8}}) {
    ThreadCluster cluster(2, parse_network("100ms,1GB/s"));
    const auto session = cluster.leader().make_session<float>(
        {.backend = "simd", .problem = {.nx = 4, .ny = ny}, .depth = 0});
    EXPECT_EQ(session->depth(), depth) << ny << " rows";
  }
}

TEST(Ranks, TellWhatEachOfThemTook) {
  ThreadCluster cluster(2, parse_network("2ms,1GB/s"));
  std::vector<RankTimes> times;
  std::int64_t told_steps = 0;
  std::int64_t told_depth = 0;
  cluster.leader().on_advance(
      [&](const RankJob& job, std::int64_t steps, const std::vector<RankTimes>& ranks) {
        told_depth = job.depth;
        told_steps = steps;
        times = ranks;
      });
  const auto session = cluster.leader().make_session<float>(
      {.backend = "simd", .problem = {.nx = 64, .ny = 64}, .depth = 4});
  session->initialise({});
  session->advance(40);
  EXPECT_EQ(told_depth, 4);
  EXPECT_EQ(told_steps, 40);
  ASSERT_EQ(times.size(), 2U);
  const double rounding = 1e-12;
  double ahead = 0; // of its own work, where the neighbour took longer
  double busy = 0;
  for (const RankTimes& rank : times) {
    EXPECT_GE(rank.wait, 0.020); // ten exchanges
    EXPECT_GT(rank.compute, 0);
    EXPECT_GT(rank.copy, 0);
    EXPECT_GE(rank.pace, rank.compute + rank.copy - rounding);
    ahead = std::max(ahead, rank.pace - rank.compute - rank.copy);
    busy += rank.compute + rank.copy;
  }
  EXPECT_GT(ahead, rounding);
  EXPECT_LT(ahead, busy);
}

// --- refusals -----------------------------------------------------------------------------------

TEST(Ranks, RefuseTooFewRowsAndTooDeepHalos) {
  ThreadCluster cluster(4);
  const auto make = [&](std::int64_t ny, std::int64_t depth) {
    return [&cluster, ny, depth] {
      (void)cluster.leader().make_session<float>(
          {.backend = "simd", .problem = {.nx = 8, .ny = ny}, .depth = depth});
    };
  };
  EXPECT_THAT(make(7, 1), ThrowsMessage<InvalidInput>(AllOf(
                              HasSubstr("4 ranks"), HasSubstr("7 rows"), HasSubstr("at most 3"))));
  EXPECT_THAT(make(18, 5), ThrowsMessage<InvalidInput>(HasSubstr("--halo-depth 4")));
  EXPECT_NO_THROW(make(8, 2)());
}

TEST(Ranks, PassOnWhatABackendRefuses) {
  ThreadCluster cluster(3);
  EXPECT_THROW((void)cluster.leader().make_session<float>(
                   {.backend = "nosuch", .problem = {.nx = 8, .ny = 30}, .depth = 1}),
               InvalidInput);
  // ... and go on.
  EXPECT_NO_THROW((void)cluster.leader().make_session<float>(
      {.backend = "fused", .problem = {.nx = 8, .ny = 30}, .depth = 1}));
}

TEST(Ranks, RefuseEachOtherWhenTheirArgumentsDiffer) {
  ThreadRanks ranks(2);
  const ServingThreads other(ranks, {.command = "--grid 641"});
  EXPECT_THAT(
      ([&] { const Ranks leader(ranks.transport(0), {.command = "--grid 640"}); }),
      ThrowsMessage<InvalidInput>(AllOf(HasSubstr("1 of 2 ranks differ"), HasSubstr("rank 1 on"),
                                        HasSubstr("arguments --grid 641, rank 0 has --grid 640"))));
}

TEST(Ranks, TellThatAnotherRankWasAskedToEnd) {
  static std::atomic<bool> asked;
  asked = false;
  ThreadCluster cluster(2, {}, {}, 20,
                        {.command = "test", .stop = []() noexcept { return asked.load(); }});
  const auto session = cluster.leader().make_session<float>(
      {.backend = "fused", .problem = {.nx = 8, .ny = 8}, .depth = 1});
  EXPECT_FALSE(cluster.leader().stopped());
  asked = true;
  session->initialise({});
  EXPECT_TRUE(cluster.leader().stopped());
}

// --- faults -------------------------------------------------------------------------------------

/// Twelve steps in exchanges of three rows, on a cluster whose messages are tampered with. Returns
/// what was thrown, or whether the bits are right.
std::string run_tampered(int ranks, const Tamper& tamper, double time_limit) {
  const Problem problem{.nx = 9, .ny = 31};
  try {
    ThreadCluster cluster(ranks, {}, tamper, time_limit);
    const auto session =
        cluster.leader().make_session<float>({.backend = "fused", .problem = problem, .depth = 3});
    session->initialise(random_field(3));
    session->advance(12);
    const auto expected =
        digest_of<float>(0, reference<float>(problem, random_field(3), 12).cells());
    return session->digest() == expected ? "right" : "WRONG BITS";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Calls `run` with each message in turn as the one that fate strikes.
void for_each_message(int ranks, const std::function<void(const std::function<bool()>&)>& run) {
  const int messages = 4 * 2 * ranks; // exchanges, neighbours, ranks
  for (int struck = 0; struck < messages; ++struck) {
    SCOPED_TRACE("message " + std::to_string(struck) + " of " + std::to_string(ranks) + " ranks");
    std::atomic<int> count = 0;
    run([&] { return count++ == struck; });
  }
}

class FaultSweep : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, FaultSweep, testing::Values(2, 3, 5));

TEST_P(FaultSweep, ALateMessageIsWaitedFor) {
  for_each_message(GetParam(), [](const auto& struck) {
    EXPECT_EQ(run_tampered(
                  GetParam(),
                  [&](int, int, auto&) { return Fate{.late_seconds = struck() ? 0.02 : 0}; }, 20),
              "right");
  });
}

TEST_P(FaultSweep, ALostMessageEndsAll) {
  for_each_message(GetParam(), [](const auto& struck) {
    EXPECT_THAT(run_tampered(
                    GetParam(), [&](int, int, auto&) { return Fate{.lost = struck()}; }, 0.1),
                MatchesRegex("rank [0-9]: step [0-9]+, exchange of halos: (no message from rank "
                             "[0-9] .*|a message of step .*)"));
  });
}

TEST_P(FaultSweep, ASwappedMessageEndsAll) {
  for_each_message(GetParam(), [](const auto& struck) {
    EXPECT_THAT(run_tampered(
                    GetParam(), [&](int, int, auto&) { return Fate{.after_next = struck()}; }, 0.1),
                MatchesRegex("rank [0-9]: step [0-9]+, exchange of halos: (no message from rank "
                             "[0-9] .*|a message of step .*)"));
  });
}

TEST_P(FaultSweep, ATruncatedMessageEndsAll) {
  for_each_message(GetParam(), [](const auto& struck) {
    EXPECT_THAT(run_tampered(
                    GetParam(),
                    [&](int, int, auto& message) {
                      if (struck()) {
                        message.pop_back();
                      }
                      return Fate{};
                    },
                    20),
                MatchesRegex("rank [0-9]: step [0-9]+, exchange of halos: a message of 1[0-9]+ "
                             "bytes where 1[0-9]+ were expected"));
  });
}

TEST_P(FaultSweep, ARankThatThrowsEndsAll) {
  for_each_message(GetParam(), [](const auto& struck) {
    EXPECT_THAT(
        run_tampered(
            GetParam(),
            [&](int from, int, auto&) -> Fate {
              if (struck()) {
                throw Error("planted on rank " + std::to_string(from));
              }
              return {};
            },
            20),
        MatchesRegex("rank ([0-9]): step [0-9]+, exchange of halos: planted on rank [0-9]"));
  });
}

TEST(Ranks, ThatHaveEndedSaySoOnEveryCall) {
  ThreadCluster cluster(
      2, {}, [](int, int, auto&) { return Fate{.lost = true}; }, 0.05);
  const auto session = cluster.leader().make_session<float>(
      {.backend = "fused", .problem = {.nx = 8, .ny = 8}, .depth = 1});
  session->initialise({});
  EXPECT_THROW(session->advance(1), Ended);
  EXPECT_THROW(session->advance(1), Ended);
  EXPECT_THROW((void)session->digest(), Ended);
}

// --- files --------------------------------------------------------------------------------------

std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Ranks, WriteTheFileThatOneProcessWrites) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("diffbench-ranks-" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const Problem problem{.nx = 13, .ny = 29, .dtype = Dtype::float64};
  write_npy(directory / "one.npy", reference<double>(problem, random_field(5), 0));
  for (const int ranks : {1, 2, 5}) {
    ThreadCluster cluster(ranks);
    const auto session =
        cluster.leader().make_session<double>({.backend = "fused", .problem = problem, .depth = 1});
    session->initialise(random_field(5));
    session->write_npy(directory / "many.npy");
    EXPECT_EQ(contents(directory / "many.npy"), contents(directory / "one.npy"));
    EXPECT_THROW(session->write_npy(directory / "nowhere" / "many.npy"), Error);
    // Each rank reads its own rows of it.
    session->initialise(parse_initial((directory / "one.npy").string()));
    EXPECT_EQ(session->digest(),
              digest_of<double>(0, reference<double>(problem, random_field(5), 0).cells()));
  }
  std::filesystem::remove_all(directory);
}

} // namespace
} // namespace diffbench::cluster
