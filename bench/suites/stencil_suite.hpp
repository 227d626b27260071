// The benchmarks of bench_stencil: every backend, dtype and grid.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/registry.hpp"

#include <span>

namespace diffbench::bench {

/// Adds "stencil/<backend>/<dtype>/<NX>x<NY>" for each backend that is available, as in the result
/// files of `diffbench`, and one skipped "stencil/<backend>" for each that is not.
void add_stencils(std::span<const BackendInfo> backends, std::span<const NotCompiled> missing);

} // namespace diffbench::bench
