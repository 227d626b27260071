// SPDX-License-Identifier: Apache-2.0
// The GPU backends on the emulated device, against the oracle, bit for bit: small grids, many
// schedules of threads, blocks and streams. What this can and cannot find:
// docs/testing-without-a-gpu.md.
#include "oracle_check.hpp"
#include "session_checks.hpp"
#include "target.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <emulation/control.hpp>

#include <array>
#include <utility>
#include <vector>

namespace diffbench::conformance {
namespace {

class EmulatedTest : public BackendTest {
 protected:
  void SetUp() override { emulation::reset(); }
  // Whatever a test does, the runtime must have nothing to complain of and everything back.
  void TearDown() override {
    EXPECT_THAT(emulation::take_reports(), testing::IsEmpty());
    EXPECT_THAT(emulation::live_resources(), testing::IsEmpty());
  }
};

TEST_P(EmulatedTest, SameBitsAtEverySizeAndSchedule) {
  constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {{3, 3},   {5, 7},   {17, 4},
                                                             {31, 33}, {64, 64}, {130, 9}};
  std::uint64_t seed = 0;
  for_each_boundary([&]<typename T>(Boundary boundary) {
    for (const auto& [nx, ny] : sizes) {
      emulation::set_seed(++seed);
      EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend), problem_of<T>(nx, ny, boundary),
                                 field_of<T>(Content::random, nx, ny), {0, 1, 2, 17}))
          << "seed " << seed;
    }
  });
}

// Long enough for whole graphs, for the ranges of several exchanges, and for a remainder.
TEST_P(EmulatedTest, SameBitsAfterManySteps) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend), problem_of<T>(19, 23, boundary),
                               field_of<T>(Content::random, 19, 23), {100, 149}));
  });
}

TEST_P(EmulatedTest, KeepsTheSessionsPromises) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const SessionMaker<T> make = maker_of<T>(GetParam().backend);
    const Problem problem = problem_of<T>(21, 13, boundary);
    EXPECT_TRUE(splits(make, problem));
    EXPECT_TRUE(starts_anew(make, problem));
    EXPECT_TRUE(replaces_rows(make, problem));
    EXPECT_TRUE(keeps_apart(make, problem));
    destroy_at_every_point(make, problem);
  });
}

// In y a launch has 65535 blocks at most; the device says how many, so that it need not take a grid
// of half a million rows to get there.
TEST_P(EmulatedTest, MoreRowsThanTheBlocksOfALaunchCover) {
  emulation::DeviceSpec device;
  device.blocks_y = 2;
  emulation::reset({.devices = {device}});
  for_each_boundary([]<typename T>(Boundary boundary) {
    EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend), problem_of<T>(3, 200, boundary),
                               field_of<T>(Content::random, 3, 200), {1, 5}));
  });
}

// What a session asks of the runtime for its kernels must not take from another's.
TEST_P(EmulatedTest, ALargeAndASmallGridAtATime) {
  for_each_boundary([]<typename T>(Boundary boundary) {
    const SessionMaker<T> make = maker_of<T>(GetParam().backend);
    const Problem problem = problem_of<T>(110, 90, boundary);
    const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
    const auto large = make(problem);
    const auto small = make(problem_of<T>(3, 3, boundary));
    large->upload(initial.cells());
    large->advance(2);
    EXPECT_TRUE(holds(*large, advanced_by_oracle(problem, initial, 2)));
  });
}

TEST_P(EmulatedTest, ManagedMemoryTheHostMayNotUseIsRefused) {
  emulation::DeviceSpec device;
  device.concurrent_managed_access = false;
  emulation::reset({.devices = {device}});
  SessionOptions options;
  options.transfer = Transfer::managed;
  try {
    (void)maker_of<float>(GetParam().backend, options)(problem_of<float>(5, 5, Boundary::periodic));
    FAIL() << "a session in managed memory";
  } catch (const Unavailable& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("concurrentManagedAccess"));
  }
}

TEST_P(EmulatedTest, SameBitsByEveryTransfer) {
  constexpr std::array transfers = {Transfer::pageable,   Transfer::pinned,
                                    Transfer::registered, Transfer::write_combined,
                                    Transfer::mapped,     Transfer::managed};
  for_each_boundary([&]<typename T>(Boundary boundary) {
    for (const Transfer transfer : transfers) {
      SessionOptions options;
      options.transfer = transfer;
      EXPECT_TRUE(matches_oracle(maker_of<T>(GetParam().backend, options),
                                 problem_of<T>(33, 6, boundary),
                                 field_of<T>(Content::random, 33, 6), {1, 9}))
          << to_string(transfer);
      EXPECT_TRUE(
          replaces_rows(maker_of<T>(GetParam().backend, options), problem_of<T>(33, 6, boundary)))
          << to_string(transfer);
    }
  });
}

// Snapshots leave while work goes on: each must hold the state of its moment, under any order in
// which the streams run.
TEST_P(EmulatedTest, SnapshotsHoldTheStateOfTheirMoment) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    emulation::set_seed(seed);
    for_each_boundary([&]<typename T>(Boundary boundary) {
      for (const Transfer transfer : {Transfer::pageable, Transfer::pinned}) {
        const Problem problem = problem_of<T>(18, 11, boundary);
        const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
        SessionOptions options;
        options.transfer = transfer;
        options.async = true;
        const auto session = GetParam().backend.template make<T>()(problem, options);
        session->upload(initial.cells());
        std::vector<Field<T>> snapshots;
        for (int i = 0; i < 4; ++i) {
          snapshots.emplace_back(problem.nx, problem.ny);
        }
        for (Field<T>& snapshot : snapshots) {
          session->advance(5);
          session->start_download(snapshot.cells());
        }
        session->advance(3);
        session->wait();
        Field<T> reference(problem.nx, problem.ny);
        std::ranges::copy(initial.cells(), reference.cells().begin());
        for (const Field<T>& snapshot : snapshots) {
          advance_reference(problem, reference, 5);
          EXPECT_TRUE(compare<T>(snapshot.cells(), reference.cells()).bitwise)
              << to_string(transfer) << ", seed " << seed;
        }
      }
    });
  }
}

// All that a session allocates is in its need, but for a word a block: also what one of the kernels
// that a calibration tries has of its own. With less it is refused with the figures, before it has
// allocated anything.
TEST(EmulatedMemory, WhatASessionTakesIsInItsNeed) {
  for (const BackendInfo& backend : backends_where(true)) {
    SCOPED_TRACE(backend.name);
    SessionOptions options;
    options.retune = backend.name == "cuda_persistent"; // the others would take long
    const Problem problem = problem_of<float>(16, 12, Boundary::periodic);
    const SessionMaker<float> make = maker_of<float>(backend, options);
    const std::int64_t need = backend.memory_need(problem, options).device;
    constexpr std::int64_t words = 4 * 32 * 4; // of 32 blocks of each of four multiprocessors
    const auto with_memory = [](std::int64_t bytes) {
      emulation::DeviceSpec device;
      device.memory_bytes = static_cast<std::size_t>(bytes);
      emulation::reset({.devices = {device}});
    };
    with_memory(need + words);
    EXPECT_NO_THROW((void)make(problem));
    with_memory(need - 1);
    try {
      (void)make(problem);
      ADD_FAILURE() << "a session that needs " << need << " bytes";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("the run needs"),
                                               testing::HasSubstr("choose a smaller grid")));
    }
  }
  emulation::reset();
}

// The way by which a device chooses shapes, which an emulated one takes only when told to. It works
// on the field's own memory, with kernels of every shape.
TEST(EmulatedCalibration, LeavesNoTrace) {
  for (const BackendInfo& backend : backends_where(true)) {
    if (backend.name != "cuda_persistent") {
      continue;
    }
    emulation::reset();
    const Problem problem = problem_of<float>(12, 10, Boundary::periodic);
    const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
    SessionOptions options;
    options.retune = true;
    const auto session = backend.make<float>()(problem, options);
    EXPECT_GE(emulation::counters().kernels, 10);
    session->upload(initial.cells());
    session->advance(21);
    EXPECT_TRUE(holds(*session, advanced_by_oracle(problem, initial, 21)));
    EXPECT_THAT(session->provenance().details,
                testing::Contains(testing::Pair("tile_from", "calibrated")));
  }
}

// What is advanced again by as much as before is all graphs, in either order of the buffers: there
// is nothing left to record, or to launch by itself, that a timed sample would meet.
TEST(EmulatedGraphs, AreRecordedOnceForANumberOfSteps) {
  for (const BackendInfo& backend : backends_where(true)) {
    const std::string_view name = backend.name;
    if (name != "cuda_graph" && name != "cuda_blocked") {
      continue;
    }
    emulation::reset();
    const Problem problem = problem_of<float>(19, 23, Boundary::periodic);
    const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
    const auto session = backend.make<float>()(problem, {});
    session->upload(initial.cells());
    std::int64_t steps = 0;
    for (const std::int64_t count : {131, 131, 131, 40, 131, 40}) {
      const std::int64_t before = emulation::counters().calls;
      const bool is_new = steps == 0 || (steps == 3 * 131 && count == 40);
      session->advance(count);
      // The device is made current, an event recorded, and at most two graphs are launched.
      const std::int64_t calls = emulation::counters().calls - before;
      EXPECT_TRUE(is_new ? calls > 4 : calls <= 4) << name << ", step " << steps << ": " << calls;
      steps += count;
    }
    EXPECT_TRUE(holds(*session, advanced_by_oracle(problem, initial, steps))) << name;
    // More numbers of steps than are kept.
    for (std::int64_t count = 60; count < 72; ++count) {
      session->advance(count);
      steps += count;
    }
    EXPECT_TRUE(holds(*session, advanced_by_oracle(problem, initial, steps))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EmulatedTest, testing::ValuesIn(emulated_targets()), test_name);

} // namespace
} // namespace diffbench::conformance
