// SPDX-License-Identifier: Apache-2.0
// The module mpi: a shared object beside the program, loaded when it is needed, so that the plain
// program does not link MPI and starts no slower. It makes ranks of processes.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace diffbench::cluster {

/// What program and module must have in common, since one calls the other's code: raise the number
/// with every change of this header's interfaces or of what they pass.
inline constexpr char module_interface[] = "diffbench modules 4, compiler " __VERSION__;

/// What a module exports under the C name `diffbench_cluster_module`.
struct Module {
  /// First, so that it is found in modules of any build; load_module() compares it, and then the
  /// sizes, which tell where the number was forgotten.
  const char* interface = module_interface;
  std::array<std::size_t, 2> sizes = {sizeof(HaloMessages), sizeof(Place)};
  /// Starts MPI and joins the ranks of the launcher; MPI ends when the transport is destroyed. The
  /// time limit (Transport::set_time_limit) holds from the start. Throws Error.
  std::unique_ptr<Transport> (*connect)(double limit_seconds) = nullptr;
};

/// From the folder DIFFBENCH_MODULES or ../lib/diffbench beside the program. It stays loaded.
/// Throws Unavailable, with what to install, when it is not there, cannot be loaded, or belongs to
/// another build.
[[nodiscard]] const Module& load_module();

} // namespace diffbench::cluster
