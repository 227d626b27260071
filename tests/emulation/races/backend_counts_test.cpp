// SPDX-License-Identifier: Apache-2.0
// What --assume takes our own backends to ask a card for (bench/model/card_counts.cpp), held
// against what the emulated device counts of them: a card that is not here is priced by these
// counts.
#include "card_counts.hpp"
#include "emulation/control.hpp"
#include "emulation/user_reports.h"
#include "json.hpp"

#include "diffbench/registry.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

struct Asked {
  CardCounts counts;
  Counts<KernelCount> steps; ///< of all kernels together
};

template <typename T>
Asked ask(const char* backend, const Problem& problem, std::int64_t steps, Transfer transfer) {
  emulation::reset();
  SessionOptions options;
  options.transfer = transfer;
  std::vector<T> field(static_cast<std::size_t>(problem.cells()), T{1});
  {
    const auto session = require_backend(backend).make<T>()(problem, options);
    session->upload(field);
    session->advance(steps);
    session->wait();
    session->download(field);
  }
  Asked asked{
      .counts = read_counts(value_of(nlohmann::ordered_json::parse(diffbench_try_counts()))),
      .steps = {}};
  for (const CountedKernel& kernel : asked.counts.kernels) {
    for (std::size_t i = 0; i < kernel.counts.all().size(); ++i) {
      asked.steps.all()[i] += kernel.counts.all()[i];
    }
  }
  return asked;
}

/// A backend, and whose counts it has in the table.
struct Held {
  const char* backend;
  const char* table;
};

class BackendCounts : public testing::TestWithParam<Held> {
 protected:
  void SetUp() override { diffbench_try_count_traffic(); }

  template <typename T>
  void check(std::int64_t steps, Transfer transfer) {
    Problem problem;
    problem.nx = 256;
    problem.ny = 64;
    problem.dtype = dtype_of<T>;
    const Asked asked = ask<T>(GetParam().backend, problem, steps, transfer);
    const CardCounts table = counts_of({.backend = GetParam().table,
                                        .cells = static_cast<double>(problem.cells()),
                                        .steps = static_cast<double>(steps),
                                        .locked = transfer != Transfer::pageable},
                                       stencil_work(problem.dtype));
    for (const CardCount copies :
         {CardCount::pageable_in_calls, CardCount::pageable_in_bytes, CardCount::pageable_out_calls,
          CardCount::pageable_out_bytes, CardCount::locked_in_calls, CardCount::locked_in_bytes,
          CardCount::locked_out_calls, CardCount::locked_out_bytes, CardCount::lock_bytes}) {
      EXPECT_EQ(asked.counts.counts[copies], table.counts[copies]) << static_cast<int>(copies);
    }
    EXPECT_GE(asked.counts.counts[CardCount::drains], table.counts[CardCount::drains]);
    const Counts<KernelCount>& own = table.kernels.front().counts;
    const Counts<KernelCount>& counted = asked.steps;
    EXPECT_EQ(counted[KernelCount::graph_launches] > 0, own[KernelCount::graph_launches] > 0);
    EXPECT_EQ(counted[KernelCount::launches], own[KernelCount::launches]);
    // Each array once a launch, but for sectors that two rows share, and halos that are loaded
    // twice: from memory at worst, as the table has it.
    EXPECT_GT(counted[KernelCount::distinct_bytes], 0.95 * 2 * own[KernelCount::written_bytes]);
    EXPECT_LT(counted[KernelCount::distinct_bytes], 1.1 * own[KernelCount::moved_bytes]);
    EXPECT_NEAR(counted[KernelCount::written_bytes] / own[KernelCount::written_bytes], 1, 0.1);
  }
};

TEST_P(BackendCounts, AreThoseOfTheTable) {
  check<float>(16, Transfer::pageable);
  check<double>(16, Transfer::pinned);
}

INSTANTIATE_TEST_SUITE_P(Ours, BackendCounts,
                         testing::Values(Held{"cuda_stream", "cuda_stream"},
                                         Held{"cuda_graph", "cuda_graph"},
                                         Held{"cuda_streamed", "cuda"}),
                         [](const auto& held) { return std::string(held.param.backend); });

} // namespace
} // namespace diffbench::bench
