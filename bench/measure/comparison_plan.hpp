// SPDX-License-Identifier: Apache-2.0
// What a comparison is to measure: plain data, whoever asks. What each function needs is a part of
// it.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/cluster/ranks.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What is computed.
struct RunPlan {
  Problem problem;
  InitialField initial;
  std::int64_t iterations = 1000;
  /// Units in the last place by which cells of a row that is timed may differ from the oracle's.
  std::int64_t tolerance_ulps = 0;
};

/// With which rows.
struct RowPlan {
  std::vector<std::string> backends =
      {};                    ///< empty: all that are available, but for those of teaching
  bool all_backends = false; ///< those of teaching, too
  std::vector<std::string> peers = {};
  std::string baseline = "xtensor_roll";
  SessionOptions session = {};
  bool device_chosen = false;       ///< session.device was asked for
  std::int64_t roundtrip_every = 0; ///< steps between two round trips of a GPU row; 0: no such rows
};

/// Rows on many ranks, beside those of this process.
struct RankPlan {
  cluster::Ranks* ranks = nullptr;     ///< null: there are no such rows
  std::int64_t halo_depth = 0;         ///< 0: chosen by trying
  bool gpu_aware = false;              ///< messages of GPU rows in the device's memory
  std::vector<std::string> given = {}; ///< the options of these that were given
};

/// All of it; everything that can be known without looking at the machine is valid.
struct ComparisonPlan : RunPlan, RowPlan {
  double budget_seconds = 10;
  bool budget_binds = false; ///< it is all that the user waits, see TimeTable
  double precision = 0;      ///< half the interval of a row's median over the median at which its
                             ///< samples suffice; 0: the usual number of samples
  /// Below which a difference of two rows is none; empty: what is known here (least_effect.hpp).
  std::optional<double> least_effect = {};
  std::int64_t sample_steps = 0; ///< of each sample; 0: as many as the budget affords
  bool copy_roof = true;         ///< measure the machine's copy bandwidth, too
  bool prove_fields = true;      ///< prove rows on other fields, too, see field_proof.hpp
};

} // namespace diffbench::bench
