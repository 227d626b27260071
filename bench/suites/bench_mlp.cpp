// bench_mlp: training steps and forward passes of every engine, verified, then timed.
#include "mlp_suite.hpp"
#include "suite.hpp"

int main(int argc, char** argv) {
  using namespace diffbench;
  bench::add_networks(mlp::all_engines());
  return bench::run_suite("bench_mlp", argc, argv);
}
