// SPDX-License-Identifier: Apache-2.0
// What a run would cost on an assumed card, in the terms of cost_model.hpp: ways as if they had
// been calibrated there, once with every figure at its better end and once at its worse. Arithmetic
// only.
//
//   a step from memory    both fields over the bandwidth of L2 where they fit it, else of memory
//   its instructions      7.2 to 25 a cell over the issue rate, 6 of them arithmetic in the dtype
//   cuda_stream           launches one a step; the longer of the launch and the step counts
//   cuda_graph            the same kernel from a graph
//   cuda                  8 steps a launch from a graph: an eighth of the traffic, and for halos
//                         3 to 43 % of it (7 to 50 % in float64), by the shape of its strips
//
// A code that is not ours (cell_work.hpp) has the ways cuda_stream and cuda_graph, and the third
// one where it takes several steps a launch.
//
// The longer of memory and instructions counts. The kernel that streams rows through registers has
// 7.2 instructions a cell and step by its machine code (docs/gpu.md); 25 is what the model of the
// small tiles of cuda_blocked comes to, 1300 GCell/s on an H200.
#pragma once

#include "assumed_card.hpp"
#include "assumed_end.hpp"
#include "cell_work.hpp"
#include "cost_model.hpp"
#include "diffbench/backend.hpp"
#include "diffbench/problem.hpp"

#include <string_view>
#include <vector>

namespace diffbench::bench {

/// One way to run, if all goes well and if it does not.
struct AssumedWay {
  WayCost fast, slow;
};

/// cuda_stream, cuda_graph and, with several steps a launch, cuda, in this order, with copies from
/// and to page-locked memory or, of Transfer::pageable, ordinary one.
[[nodiscard]] std::vector<AssumedWay> assumed_ways(const AssumedCard& card, const CellWork& work,
                                                   Transfer transfer);
/// Of the stencil.
[[nodiscard]] std::vector<AssumedWay> assumed_ways(const AssumedCard& card, Dtype dtype,
                                                   Transfer transfer);

/// Where the time of a warm run goes, in seconds.
struct WarmParts {
  double copies = 0;       ///< of the field
  double launches = 0;     ///< and the wait at the end
  double memory = 0;       ///< kernels that wait for their bytes
  double instructions = 0; ///< kernels that wait for their instructions
  [[nodiscard]] double all() const { return copies + launches + memory + instructions; }
};
/// Of a run by that way at that end, as it is predicted.
[[nodiscard]] WarmParts warm_parts(const AssumedEnd& end, std::string_view backend,
                                   const Prediction& prediction, const RunShape& run);

/// What two fields take.
[[nodiscard]] double device_bytes(const Problem& problem);

} // namespace diffbench::bench
