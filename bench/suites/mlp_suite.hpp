// The benchmarks of bench_mlp: every engine, network and batch.
#pragma once

#include "diffbench/mlp/engine.hpp"

#include <span>

namespace diffbench::bench {

/// Adds "mlp/<engine>/step/<widths>/<batch>" and "mlp/<engine>/forward/<widths>/<batch>" for each
/// engine that is available, and one skipped "mlp/<engine>" for each that is not, or not compiled.
void add_networks(std::span<const mlp::EngineInfo> engines);

} // namespace diffbench::bench
