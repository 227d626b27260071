// SPDX-License-Identifier: Apache-2.0
// What the Google Benchmark suites share: how a benchmark is added, and how all of a program run.
//
// The suites are for those who know Google Benchmark: its filters, its repetitions, its JSON, its
// compare.py. What they time is proved right first, and a sample is what it is in `diffbench`: a
// number of operations that is fixed beforehand, so that a run has an end that can be foreseen.
#pragma once

#include "diffbench/backend.hpp"
#include "operation.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>

namespace diffbench::bench {

/// One repetition: the loop over the state's iterations, and its counters.
using Repetition = std::function<void(benchmark::State&)>;

/// Allocates, checks the result and warms up, all outside of the time; called once, when the
/// benchmark's turn has come. What the repetition holds is given back before the next benchmark
/// begins. An empty repetition says that all was checked and must not be timed: the device is
/// emulated. Throws Unavailable with the reason why it cannot run here, WrongResult, or Error.
using Prepare = std::function<Repetition()>;

/// Whose time is reported as real time.
enum class Clock {
  loop,    ///< Google Benchmark's, round the loop over the state's iterations
  samples, ///< that of take_samples()
};

/// `name` is the whole name in the results: parts between slashes, "stencil/simd/float32/640x640".
/// `iterations` of a repetition are fixed: Google Benchmark has no limit for the wall time.
void add_benchmark(const std::string& name, std::int64_t iterations, Prepare prepare,
                   Clock clock = Clock::loop);

/// A repetition by what `diffbench` times with, a Timed or the like: all iterations are one sample.
template <typename Timed>
void take_samples(benchmark::State& state, Timed& timed) {
  while (state.KeepRunningBatch(state.max_iterations)) {
    state.SetIterationTime(timed.sample(state.max_iterations).seconds);
  }
}

/// A benchmark that is known not to run here; reported once, with the reason.
void add_skipped(const std::string& name, const std::string& reason);

/// Adds a counter that the reports show as a rate: `amount` is that of one iteration.
void count_rate(benchmark::State& state, const char* counter, double amount);

/// What really ran, beside the times.
void set_label(benchmark::State& state, const Provenance& provenance);

/// Runs what was added, as the command line says (Google Benchmark's options; nine repetitions,
/// which its U test wants, unless it says otherwise). `name` is the program's. Returns the exit
/// code: 0, 1 when a benchmark failed or nothing was measured, 2 for a wrong option, 3 for a wrong
/// result.
[[nodiscard]] int run_suite(const char* name, int argc, char** argv);

} // namespace diffbench::bench
