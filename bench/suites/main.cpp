// SPDX-License-Identifier: Apache-2.0
// bench_suites: the Google Benchmark suites, verified, then timed. --benchmark_filter takes one.
#include "suite.hpp"
#include "suites.hpp"

int main(int argc, char** argv) {
  using namespace diffbench;
  bench::add_stencils(all_backends(), missing_backends());
  bench::add_copies();
  bench::add_syncs();
  bench::add_networks(mlp::all_engines());
  return bench::run_suite("bench_suites", argc, argv);
}
