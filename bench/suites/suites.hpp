// SPDX-License-Identifier: Apache-2.0
// The benchmarks of bench_suites. Each function adds those of one suite, and one that is skipped,
// with the reason, for what is not available here.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/registry.hpp"

#include <span>

namespace diffbench::bench {

/// "stencil/<backend>/<dtype>/<NX>x<NY>": a time step, with the names of `diffbench`'s result
/// files.
void add_stencils(std::span<const BackendInfo> backends, std::span<const NotCompiled> missing);

/// "transfer/host/<how>/<bytes>" and "transfer/<direction>/<mode>/<bytes>": copies of 1 KiB to 1
/// GiB.
void add_copies();

/// "sync/cpu/<what>/threads:<N>" and "sync/gpu/<what>": what it costs to start work and to wait for
/// it.
void add_syncs();

/// "mlp/<engine>/step/<widths>/<batch>" and "mlp/<engine>/forward/<widths>/<batch>".
void add_networks(std::span<const mlp::EngineInfo> engines);

} // namespace diffbench::bench
