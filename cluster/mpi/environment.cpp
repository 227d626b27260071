// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"

#include <cstdlib>

#include <sys/uio.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

void set_unless_set(const char* variable, const char* value) { ::setenv(variable, value, 0); }

// The affinity mask is no measure: the launcher may have bound each rank to a core of its own.
bool more_ranks_than_cpus() {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const int ranks = text != nullptr ? parse_number<int>(text).value_or(1) : 1;
  return ranks > static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)) || ranks > cpu_quota();
}

// A filter of system calls refuses even what this process asks of itself.
bool may_read_other_processes() {
  char from = 1;
  char to = 0;
  const iovec source{&from, 1};
  const iovec target{&to, 1};
  return ::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) == 1;
}

} // namespace

void prepare_environment() {
  if (more_ranks_than_cpus()) {
    set_unless_set("OMPI_MCA_mpi_yield_when_idle", "1");
  }
  if (!may_read_other_processes()) {
    set_unless_set("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
  }
}

} // namespace diffbench::cluster
