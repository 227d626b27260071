// SPDX-License-Identifier: Apache-2.0
// Sessions on a device under every transfer mode, with and without copies beside compute: the bits,
// snapshots, the session's own host memory, phases, and what is refused.
#include "oracle_check.hpp"
#include "session_checks.hpp"

#include "device_row_memory.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"

#include <gmock/gmock.h>

#include <array>
#include <tuple>
#include <vector>

namespace diffbench::conformance {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::array transfers = {Transfer::pageable,       Transfer::pinned, Transfer::registered,
                                  Transfer::write_combined, Transfer::mapped, Transfer::managed};

bool is_page_locked(Transfer transfer) {
  return transfer == Transfer::pinned || transfer == Transfer::registered ||
         transfer == Transfer::write_combined;
}

// The kernels have nothing to do with transfers: the simplest of them stands for all.
class DeviceSessionTest : public testing::TestWithParam<std::tuple<Transfer, bool>> {
 protected:
  void SetUp() override {
    const BackendInfo& backend = naive();
    if (const Probe probe = backend.probe(0); !probe.available) {
      GTEST_SKIP() << probe.reason;
    }
    try {
      (void)make()(problems()[0]);
    } catch (const Unavailable& error) { // as managed memory is under WSL2 and on shares of a card
      GTEST_SKIP() << error.what();
    }
  }

  static const BackendInfo& naive() {
    for (const BackendInfo& backend : all_backends()) {
      if (backend.name == "cuda_naive") {
        return backend;
      }
    }
    throw Error("cuda_naive is not in the registry");
  }

  static SessionOptions options() {
    const auto [transfer, async] = GetParam();
    SessionOptions options;
    options.transfer = transfer;
    options.async = async;
    return options;
  }
  static SessionMaker<float> make() { return maker_of<float>(naive(), options()); }
  // Rows of 61 cells are padded on the device, rows of 64 are not.
  static std::array<Problem, 2> problems() {
    return {problem_of<float>(61, 43, Boundary::periodic),
            problem_of<float>(64, 21, Boundary::dirichlet)};
  }
};

TEST_P(DeviceSessionTest, KeepsTheSessionsPromises) {
  for (const Problem& problem : problems()) {
    EXPECT_TRUE(splits(make(), problem));
    EXPECT_TRUE(starts_anew(make(), problem));
    EXPECT_TRUE(replaces_rows(make(), problem));
    EXPECT_TRUE(keeps_apart(make(), problem));
    destroy_at_every_point(make(), problem);
  }
}

TEST_P(DeviceSessionTest, SnapshotsAreOfTheTimeWhenTheyWereStarted) {
  for (const Problem& problem : problems()) {
    const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
    const auto session = make()(problem);
    session->upload(initial.cells());
    std::vector<Field<float>> snapshots;
    snapshots.reserve(5);
    for (int i = 0; i < 5; ++i) {
      snapshots.emplace_back(problem.nx, problem.ny);
    }
    for (Field<float>& snapshot : snapshots) {
      session->start_download(snapshot.cells());
      session->advance(3);
    }
    session->wait();
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      const auto expected = advanced_by_oracle(problem, initial, 3 * static_cast<std::int64_t>(i));
      EXPECT_TRUE(same_bits<float>(snapshots[i].cells(), expected.cells(), problem.nx)) << i;
    }
    EXPECT_TRUE(holds(*session, advanced_by_oracle(problem, initial, 15)));
  }
}

// What may go on while the host does something else.
TEST_P(DeviceSessionTest, ASnapshotArrivesInTheHostBuffer) {
  for (const Problem& problem : problems()) {
    const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
    const auto session = make()(problem);
    const std::span<float> buffer = session->host_buffer();
    ASSERT_EQ(buffer.size(),
              is_page_locked(options().transfer) ? static_cast<std::size_t>(problem.cells()) : 0);
    if (buffer.empty()) {
      continue;
    }
    std::ranges::copy(initial.cells(), buffer.begin());
    session->upload(buffer);
    session->advance(4);
    session->start_download(buffer);
    session->advance(20);
    session->wait();
    const auto expected = advanced_by_oracle(problem, initial, 4);
    EXPECT_TRUE(same_bits<float>(buffer, expected.cells(), problem.nx));
    session->download(buffer);
    const auto final = advanced_by_oracle(problem, initial, 24);
    EXPECT_TRUE(same_bits<float>(buffer, final.cells(), problem.nx));
  }
}

// The halo rows of a part of a larger grid go from and to the session's own memory, which keeps
// what else it holds.
TEST_P(DeviceSessionTest, RowsOfTheHostBufferAreCopiedAlone) {
  for (const Problem& problem : problems()) {
    Field<float> expected = field_of<float>(Content::random, problem.nx, problem.ny);
    const auto session = make()(problem);
    session->upload(expected.cells());
    const std::span<float> buffer = session->host_buffer();
    if (buffer.empty()) {
      continue;
    }
    constexpr float untouched = 7;
    const auto nx = static_cast<std::size_t>(problem.nx);
    const auto others_untouched = [&](std::size_t first, std::size_t rows) {
      const auto is = [](float cell) { return cell == untouched; };
      return std::ranges::all_of(buffer.first(first * nx), is) &&
             std::ranges::all_of(buffer.subspan((first + rows) * nx), is);
    };
    // To and from the place of the rows themselves, then another one.
    for (const std::size_t first : {std::size_t{5}, std::size_t{2}}) {
      std::ranges::fill(buffer, untouched);
      const std::span<float> place = buffer.subspan(first * nx, 3 * nx);
      const Field<float> other = field_of<float>(Content::random, problem.nx, 3, 9 + first);
      std::ranges::copy(other.cells(), place.begin());
      session->upload_rows(5, place);
      EXPECT_TRUE(others_untouched(first, 3));
      std::ranges::copy(other.cells(), expected.row(5));
      session->advance(2);
      advance_reference(problem, expected, 2);
      session->download_rows(5, place);
      EXPECT_TRUE(others_untouched(first, 3));
      EXPECT_TRUE(same_bits<float>(place, part_of(expected, {5, 8}), problem.nx));
      EXPECT_TRUE(holds(*session, expected));
    }
  }
}

TEST(GivenMemory, IsKnownAsLongAsItIsHeld) {
  kernels::GivenMemory<float> given;
  std::array<float, 8> cells{};
  const auto held = std::span(cells).subspan(2, 4);
  {
    const kernels::Listed<float> listed(given, held, RowMemoryKind::device);
    ASSERT_NE(given.find(&cells[2]), nullptr);
    EXPECT_EQ(given.find(&cells[5])->kind, RowMemoryKind::device);
    EXPECT_EQ(given.find(&cells[1]), nullptr);
    EXPECT_EQ(given.find(&cells[6]), nullptr);
  }
  EXPECT_EQ(given.find(&cells[2]), nullptr);
}

// A halo by way of a message: down from one place, up to another, with a label before it.
TEST_P(DeviceSessionTest, RowsAreCopiedToAndFromMemoryThatTheSessionHasGiven) {
  constexpr std::size_t label_cells = RowMemory<float>::label_bytes / sizeof(float);
  for (const Problem& problem : problems()) {
    for (const RowMemoryKind kind : {RowMemoryKind::host, RowMemoryKind::device}) {
      Field<float> expected = field_of<float>(Content::random, problem.nx, problem.ny);
      const auto session = make()(problem);
      session->upload(expected.cells());
      const auto cells = static_cast<std::int64_t>(label_cells) + 3 * problem.nx;
      const auto message = session->row_memory(cells, kind);
      const auto other = session->row_memory(cells, kind); // beside it
      for (const std::int64_t first : {2, 5}) {
        session->advance(3);
        const std::array<std::int64_t, 3> label = {first, 3, 77};
        message->write_label(std::as_bytes(std::span(label)));
        session->download_rows(first, message->cells().subspan(label_cells));
        session->upload_rows(first + 7, message->cells().subspan(label_cells));
        std::array<std::int64_t, 3> seen{};
        message->read_label(std::as_writable_bytes(std::span(seen)));
        EXPECT_EQ(seen, label);
        advance_reference(problem, expected, 3);
        std::ranges::copy(part_of(expected, {first, first + 3}), expected.row(first + 7));
        EXPECT_TRUE(holds(*session, expected));
      }
    }
  }
}

// Memory that others have page-locked: then snapshots overtake each other if anything lets them.
TEST_P(DeviceSessionTest, ManySnapshotsMayBeOnTheirWay) {
  const Problem problem = problems()[0];
  const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
  SessionOptions pinned;
  pinned.transfer = Transfer::pinned;
  std::vector<std::unique_ptr<Session<float>>> owners;
  owners.reserve(6);
  for (int i = 0; i < 6; ++i) {
    owners.push_back(maker_of<float>(naive(), pinned)(problem));
  }
  const auto session = make()(problem);
  session->upload(initial.cells());
  for (const auto& owner : owners) {
    session->start_download(owner->host_buffer());
    session->advance(2);
  }
  session->wait();
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto expected = advanced_by_oracle(problem, initial, 2 * static_cast<std::int64_t>(i));
    EXPECT_TRUE(same_bits<float>(owners[i]->host_buffer(), expected.cells(), problem.nx)) << i;
  }
}

TEST_P(DeviceSessionTest, PhasesAreTakenOnce) {
  const Problem problem = problems()[0];
  const Field<float> initial = field_of<float>(Content::random, problem.nx, problem.ny);
  Field<float> result(problem.nx, problem.ny);
  const auto session = make()(problem);
  session->upload(initial.cells());
  session->advance(10);
  session->wait();
  session->download(result.cells());

  const std::optional<PhaseTimes> taken = session->take_phases();
  ASSERT_TRUE(taken);
  for (const double phase : {taken->context, taken->alloc, taken->h2d, taken->launch, taken->d2h}) {
    EXPECT_GT(phase, 0);
  }
  // The wait is for the kernels, as far as they were not done when it began, and for itself.
  EXPECT_GT(taken->compute + taken->sync, 0);
  EXPECT_LE(taken->compute, taken->compute_busy);
  EXPECT_GT(taken->compute_busy, 0);
  const bool copies = options().transfer != Transfer::mapped;
  EXPECT_EQ(taken->h2d_busy > 0, copies);
  EXPECT_EQ(taken->d2h_busy > 0, copies);

  const std::optional<PhaseTimes> rest = session->take_phases();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->alloc + rest->h2d + rest->launch + rest->compute + rest->sync + rest->d2h, 0);
}

TEST_P(DeviceSessionTest, TooLargeAGridIsRefusedWithTheFigures) {
  Problem problem;
  problem.nx = problem.ny = 4'000'000;          // 64 TB a field
  if (options().transfer == Transfer::mapped) { // takes the host's memory, which the caller checks
    EXPECT_GE(naive().memory_need(problem, options()).host, 2 * problem.field_bytes());
    return;
  }
  try {
    (void)make()(problem);
    FAIL() << "a session of " << problem.cells() << " cells";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("needs"), HasSubstr("are free")));
  }
}

TEST_P(DeviceSessionTest, ADeviceThatDoesNotExistIsRefused) {
  SessionOptions missing = options();
  for (const int index : {-1, 4711}) {
    missing.device = index;
    EXPECT_THROW((void)maker_of<float>(naive(), missing)(problems()[0]), Unavailable);
    const Probe probe = naive().probe(index);
    EXPECT_FALSE(probe.available);
    EXPECT_THAT(probe.reason, HasSubstr("no CUDA device " + std::to_string(index)));
  }
}

std::string test_name(const testing::TestParamInfo<std::tuple<Transfer, bool>>& info) {
  std::string name(to_string(std::get<0>(info.param)));
  std::ranges::replace(name, '-', '_');
  return name + (std::get<1>(info.param) ? "_async" : "");
}

INSTANTIATE_TEST_SUITE_P(Transfers, DeviceSessionTest,
                         testing::Combine(testing::ValuesIn(transfers), testing::Bool()),
                         test_name);

} // namespace
} // namespace diffbench::conformance
