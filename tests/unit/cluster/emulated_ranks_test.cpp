// SPDX-License-Identifier: Apache-2.0
// Ranks whose sessions are on a device: the oracle's bits with messages staged in page-locked
// memory and with messages in the device's memory, and an error when a call of the runtime fails.
// The ranks are threads that share one emulated device. Each call of the emulation holds its lock,
// and so does work that runs: that is all the order they need.
#include "thread_cluster.hpp"

#include "diffbench/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <emulation/control.hpp>
#include <emulation/fault_sweep.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::cluster {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::ThrowsMessage;

constexpr std::array transfers = {Transfer::pageable,       Transfer::pinned, Transfer::registered,
                                  Transfer::write_combined, Transfer::mapped, Transfer::managed};

const InitialField initial{.kind = InitialField::Kind::random, .seed = 7, .path = {}};

/// As an MPI with CUDA support copies.
void copy_by_runtime(void* to, const void* from, std::size_t bytes) {
  if (const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
      error != cudaSuccess) {
    throw Error(std::string("cudaMemcpy(): ") + cudaGetErrorString(error));
  }
}

/// Ranks whose transport takes device memory where `takes_device_memory` says so.
class DeviceCluster : public ThreadCluster {
 public:
  DeviceCluster(int ranks, bool takes_device_memory, Tamper tamper = {})
      : ThreadCluster(ranks, {}, std::move(tamper), 20, {.command = "test"},
                      takes_device_memory ? CopyMessage(copy_by_runtime) : CopyMessage()) {}
};

RankJob job_of(std::string backend, const Problem& problem, std::int64_t depth, bool gpu_aware) {
  return {.backend = std::move(backend),
          .problem = problem,
          .options = {.threads = 1},
          .depth = depth,
          .gpu_aware = gpu_aware};
}

std::string describe(const RankJob& job, int ranks) {
  return job.backend + " " + std::string(to_string(job.problem.dtype)) + " " +
         std::string(to_string(job.problem.boundary)) + ", ranks " + std::to_string(ranks) +
         ", depth " + std::to_string(job.depth) + ", " +
         std::string(to_string(job.options.transfer)) +
         (job.gpu_aware ? ", device memory" : ", staged");
}

/// 2 * depth + 1 steps in two calls: whole exchanges and a remainder.
template <typename T>
void expect_the_oracles_bits(DeviceCluster& cluster, const RankJob& job) {
  const std::int64_t steps = 2 * job.depth + 1;
  const auto session = cluster.leader().make_session<T>(job);
  const Field<T> expected = reference<T>(job.problem, initial, steps);
  Field<T> field(job.problem.nx, job.problem.ny);
  fill_initial(job.problem, initial, field);
  session->upload(field.cells());
  session->advance(1);
  session->advance(steps - 1);
  session->download(field.cells());
  EXPECT_TRUE(compare<T>(field.cells(), expected.cells()).bitwise);
  EXPECT_EQ(session->digest(), digest_of<T>(0, expected.cells()));
}

void expect_the_oracles_bits(DeviceCluster& cluster, const RankJob& job) {
  SCOPED_TRACE(describe(job, cluster.leader().size()));
  if (job.problem.dtype == Dtype::float32) {
    expect_the_oracles_bits<float>(cluster, job);
  } else {
    expect_the_oracles_bits<double>(cluster, job);
  }
}

std::vector<std::string> emulated_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : all_backends()) {
    if (backend.device == DeviceKind::emulated) {
      names.emplace_back(backend.name);
    }
  }
  return names;
}

class EmulatedRanks : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { emulation::reset(); }
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), IsEmpty());
    EXPECT_THAT(emulation::live_resources(), IsEmpty());
  }
};

TEST_P(EmulatedRanks, GiveTheOraclesBits) {
  std::uint64_t seed = 0;
  for (const bool gpu_aware : {false, true}) {
    for (int ranks = gpu_aware ? 2 : 1; ranks <= 4; ++ranks) { // one has no messages
      emulation::set_seed(++seed);
      DeviceCluster cluster(ranks, gpu_aware);
      for (const std::int64_t depth : {1, 3}) {
        for (const Boundary boundary :
             {Boundary::periodic, Boundary::dirichlet, Boundary::neumann}) {
          for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
            const Problem problem{.nx = 19,
                                  .ny = 14,
                                  .boundary = boundary,
                                  .boundary_value = boundary == Boundary::dirichlet ? 0.25 : 0,
                                  .dtype = dtype};
            expect_the_oracles_bits(cluster, job_of(GetParam(), problem, depth, gpu_aware));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EmulatedRanks, testing::ValuesIn(emulated_backends()),
                         [](const auto& info) { return info.param; });

// Rows of 19 cells are padded on the device, rows of 64 are not.
TEST(EmulatedRanksOnce, GiveTheOraclesBitsInEveryTransferMode) {
  emulation::reset();
  for (const bool gpu_aware : {false, true}) {
    DeviceCluster cluster(3, gpu_aware);
    for (const Transfer transfer : transfers) {
      for (const bool async : {false, true}) {
        for (const std::int64_t nx : {19, 64}) {
          RankJob job = job_of("cuda_naive", {.nx = nx, .ny = 13}, 2, gpu_aware);
          job.options.transfer = transfer;
          job.options.async = async;
          expect_the_oracles_bits(cluster, job);
        }
      }
    }
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
}

TEST(EmulatedRanksOnce, ChooseADepthByTrying) {
  emulation::reset();
  for (const bool gpu_aware : {false, true}) {
    DeviceCluster cluster(2, gpu_aware);
    const Problem problem{.nx = 20, .ny = 24};
    const auto session =
        cluster.leader().make_session<float>(job_of("cuda_naive", problem, 0, gpu_aware));
    session->initialise(initial);
    session->advance(25);
    EXPECT_EQ(session->digest(),
              digest_of<float>(0, reference<float>(problem, initial, 25).cells()));
  }
}

// --- one session
// ------------------------------------------------------------------------------------

/// Copies of a session's rows that were counted while `copy` ran.
template <typename Copy>
std::int64_t copies_of(Copy copy) {
  const std::int64_t before = emulation::counters().copies;
  copy();
  return emulation::counters().copies - before;
}

// In memory that it has given a session copies rows once, whatever its mode, and where it is not to
// copy through its arena nothing changes there.
TEST(EmulatedRanksOnce, ASessionCopiesOnceToWhatItHasGiven) {
  emulation::reset();
  const Problem problem{.nx = 19, .ny = 9};
  const auto session =
      require_backend("cuda_naive", 0).make<float>()(problem, {.transfer = Transfer::pinned});
  const Field<float> field = reference<float>(problem, initial, 0);
  session->upload(field.cells());
  const std::vector<float> arena(session->host_buffer().begin(), session->host_buffer().end());

  const auto message = session->row_memory(16 + 3 * 19, RowMemoryKind::host);
  const std::span<float> rows = message->cells().subspan(16, 3 * 19);
  EXPECT_EQ(copies_of([&] { session->download_rows(2, rows); }), 1);
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), field.row(2)));
  std::ranges::fill(rows, 5.0F);
  EXPECT_EQ(copies_of([&] { session->upload_rows(2, rows); }), 1);
  EXPECT_TRUE(std::ranges::equal(arena, session->host_buffer()));

  // Memory of the host that is not the session's still goes through it.
  std::vector<float> own(3 * 19);
  session->download_rows(2, own);
  EXPECT_EQ(own, std::vector<float>(3 * 19, 5.0F));
  EXPECT_FALSE(std::ranges::equal(arena, session->host_buffer()));
}

TEST(EmulatedRanksOnce, LabelsComeAndGoInOrderWithRows) {
  emulation::reset();
  for (const RowMemoryKind kind : {RowMemoryKind::host, RowMemoryKind::device}) {
    const Problem problem{.nx = 19, .ny = 9};
    const auto session = require_backend("cuda_naive", 0).make<double>()(problem, {});
    const Field<double> field = reference<double>(problem, initial, 0);
    session->upload(field.cells());
    const auto message = session->row_memory(8 + 2 * 19, kind);
    for (const std::byte value : {std::byte{1}, std::byte{2}}) {
      const std::array<std::byte, 64> label = [value] {
        std::array<std::byte, 64> bytes{};
        bytes.fill(value);
        return bytes;
      }();
      message->write_label(std::array<std::byte, 64>{});
      message->write_label(label);
      session->download_rows(1, message->cells().subspan(8));
      std::array<std::byte, 64> seen{};
      message->read_label(seen);
      EXPECT_EQ(seen, label);
      session->upload_rows(4, message->cells().subspan(8));
    }
    std::vector<double> rows(2 * 19);
    session->download_rows(4, rows);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), field.row(1)));
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
}

TEST(EmulatedRanksOnceDeathTest, TheHostMustNotTouchMessagesOnTheDevice) {
  emulation::reset();
  const auto session = require_backend("cuda_naive", 0).make<float>()({.nx = 19, .ny = 9}, {});
  const auto message = session->row_memory(19, RowMemoryKind::device);
  EXPECT_DEATH(message->cells()[0] = 1, "the host touched device memory");
}

// --- what is said, and what is refused
// ------------------------------------------------------------

TEST(EmulatedRanksOnce, SayWhereMessagesLie) {
  emulation::reset();
  const auto details = [](int ranks, const std::string& backend, bool gpu_aware) {
    DeviceCluster cluster(ranks, true);
    return cluster.leader()
        .make_session<float>(job_of(backend, {.nx = 8, .ny = 12}, 2, gpu_aware))
        ->provenance()
        .details;
  };
  const auto none = Not(Contains(Key("halo_messages")));
  EXPECT_THAT(details(2, "cuda_naive", false),
              Contains(Pair("halo_messages", "staged, page-locked")));
  EXPECT_THAT(details(2, "cuda_naive", true), Contains(Pair("halo_messages", "device memory")));
  EXPECT_THAT(details(1, "cuda_naive", true), none);
  EXPECT_THAT(details(2, "fused", false), none);
  EXPECT_THAT(details(2, "fused", true), none);
}

TEST(EmulatedRanksOnce, RefuseDeviceMemoryThatTheTransportDoesNotTake) {
  emulation::reset();
  DeviceCluster cluster(2, false);
  const Problem problem{.nx = 8, .ny = 12};
  EXPECT_THAT(
      [&] { (void)cluster.leader().make_session<float>(job_of("cuda_naive", problem, 2, true)); },
      ThrowsMessage<Unavailable>(AllOf(HasSubstr("--gpu-aware on: threads takes no messages"),
                                       HasSubstr("--gpu-aware off"), Not(HasSubstr("\n")))));
  // Rows on the CPU have no such messages, and the ranks go on.
  expect_the_oracles_bits(cluster, job_of("fused", problem, 2, true));
}

// --- faults
// -----------------------------------------------------------------------------------------

TEST(EmulatedRanksOnce, AMessageOfAnotherStepEndsAll) {
  emulation::reset();
  for (const bool gpu_aware : {false, true}) {
    std::atomic<int> messages = 0;
    const auto wrong_step = [&](int from, int, std::vector<std::byte>& message) {
      if (from == 1 && ++messages == 3) {
        message[0] = std::byte{99};
      }
      return Fate{};
    };
    DeviceCluster cluster(2, gpu_aware, wrong_step);
    const auto session = cluster.leader().make_session<float>(
        job_of("cuda_naive", {.nx = 8, .ny = 12}, 2, gpu_aware));
    session->initialise(initial);
    EXPECT_THAT([&] { session->advance(6); },
                ThrowsMessage<Ended>(HasSubstr("a message of step 99 with 2 rows from rank 1")));
  }
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
}

class EmulatedRanksSweep : public testing::TestWithParam<bool> {};

/// emulation::Life of two ranks: what they make, an exchange, steps, and what comes back.
std::int64_t live(bool gpu_aware) {
  DeviceCluster cluster(2, gpu_aware);
  const Problem problem{.nx = 8, .ny = 12};
  RankJob job = job_of("cuda_naive", problem, 2, gpu_aware);
  job.options.transfer = Transfer::pinned;
  const auto session = cluster.leader().make_session<float>(job);
  session->initialise(initial);
  session->advance(3);
  EXPECT_EQ(session->digest(), digest_of<float>(0, reference<float>(problem, initial, 3).cells()));
  return emulation::counters().calls;
}

// A rank looks how many devices its machine has: as many as answer.
TEST_P(EmulatedRanksSweep, EveryCallFailsCleanly) {
  emulation::expect_every_call_fails_cleanly([] { return live(GetParam()); }, 40,
                                             {"cudaGetDeviceCount", "cudaDeviceGetAttribute"});
}

TEST_P(EmulatedRanksSweep, AKernelsFaultArrives) {
  emulation::expect_kernel_faults_arrive([] { return live(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Messages, EmulatedRanksSweep, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "device" : "staged");
});

} // namespace
} // namespace diffbench::cluster
