// SPDX-License-Identifier: Apache-2.0
// The checks of every transport, run by the module mpi under mpirun:
//
//   mpi_transport_test MODULE        the lasting ones
//   mpi_transport_test MODULE NAME   one of the last ones, or what leaves MPI (see below)
//
// As the program, it knows nothing of MPI but the module that it loads.
#include "diffbench/cluster/module.hpp"
#include "diffbench/shared_library.hpp"

#include "transport_checks.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using diffbench::Error;
using diffbench::cluster::CheckFailed;
using diffbench::cluster::Module;
using diffbench::cluster::Transport;
namespace checks = diffbench::cluster::checks;

const Module& load(const char* file) {
  diffbench::SharedLibrary library(file);
  const Module* module = nullptr;
  library.require("diffbench_cluster_module", module);
  library.keep();
  return *module;
}

void run_lasting(Transport& transport) {
  for (const checks::Check& check : checks::lasting) {
    try {
      transport.set_time_limit(60);
      check.run(transport);
    } catch (const std::exception& error) {
      // The others would wait.
      transport.end_all(std::string("FAILED: ") + check.name + ": " + error.what());
    }
  }
  checks::meet(transport);
  if (transport.rank() == 0) {
    std::printf("%zu checks, %d ranks, %s\n", std::size(checks::lasting), transport.size(),
                transport.description().c_str());
  }
}

void run_named(Transport& transport, std::string_view name) {
  for (const checks::LastCheck& check : checks::last) {
    if (name == check.name) {
      checks::run_last(check, transport);
    }
  }
  // An exception that goes through the transport's life: of all ranks MPI ends as usual, of one
  // rank all end.
  if (name == "all_throw" || (name == "one_throws" && transport.rank() == 0)) {
    throw Error("thrown by rank " + std::to_string(transport.rank()));
  }
  if (name == "one_throws") {
    checks::meet(transport);
  }
  if (name == "waits_for_rank_0") {
    checks::rank_0_takes_its_time(transport);
    std::puts("it came");
  }
}

int run(int count, char** arguments) {
  const auto transport = load(arguments[1]).connect(60);
  if (count == 2) {
    run_lasting(*transport);
  } else {
    try {
      run_named(*transport, arguments[2]);
    } catch (const CheckFailed& failure) {
      transport->end_all(std::string("FAILED: ") + failure.what());
    }
  }
  return EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: %s MODULE [NAME]\n", arguments[0]);
    return 2;
  }
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caught: %s\n", error.what());
    return 3;
  }
}
