// bench_stencil: every backend on every dtype and grid, verified, then timed.
#include "stencil_suite.hpp"
#include "suite.hpp"

int main(int argc, char** argv) {
  using namespace diffbench;
  bench::add_stencils(all_backends(), missing_backends());
  return bench::run_suite("bench_stencil", argc, argv);
}
