// SPDX-License-Identifier: Apache-2.0
// A build without the CUDA runtime.
#include "diffbench/errors.hpp"
#include "gpu_operations.hpp"

namespace diffbench::bench {

namespace {

constexpr const char* reason = "not compiled: configure with -DDIFFBENCH_CUDA=toolkit";

} // namespace

Probe probe_gpu() { return {.available = false, .reason = reason}; }

bool gpu_is_emulated() { return false; }

Operation make_gpu_sync(GpuSync) { throw Unavailable(reason); }

} // namespace diffbench::bench
