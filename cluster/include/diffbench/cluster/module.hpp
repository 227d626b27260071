// SPDX-License-Identifier: Apache-2.0
// The modules: shared objects beside the program, loaded when they are needed, so that the plain
// program links neither MPI nor HDF5 and starts no slower.
//
//   mpi    ranks as processes
//   hdf5   checkpoints
#pragma once

#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/transport.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace diffbench::cluster {

/// What program and module must have in common, since one calls the other's code: raise the number
/// with every change of this header's interfaces or of what they pass.
inline constexpr char module_interface[] = "diffbench modules 3, compiler " __VERSION__;

/// What a module exports under the C name `diffbench_cluster_module`.
struct Module {
  /// First, so that it is found in modules of any build; load_module() compares it, and then the
  /// sizes, which tell where the number was forgotten.
  const char* interface = module_interface;
  std::array<std::size_t, 3> sizes = {sizeof(CheckpointContent), sizeof(HaloMessages),
                                      sizeof(Place)};
  /// Starts MPI and joins the ranks of the launcher; MPI ends when the transport is destroyed. The
  /// time limit (Transport::set_time_limit) holds from the start. Null but in the module mpi.
  /// Throws Error.
  std::unique_ptr<Transport> (*connect)(double limit_seconds) = nullptr;
  /// Null but in the module hdf5. Throws Error.
  std::unique_ptr<CheckpointFiles> (*checkpoint_files)() = nullptr;
};

/// The module of that name, from the folder DIFFBENCH_MODULES or ../lib/diffbench beside the
/// program. It stays loaded. Throws Unavailable, with what to install, when it is not there,
/// cannot be loaded, or belongs to another build.
[[nodiscard]] const Module& load_module(std::string_view name);

} // namespace diffbench::cluster
