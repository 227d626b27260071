// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/module.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/shared_library.hpp"
#include "diffbench/text.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

fs::path module_file() {
  const char* const folder = std::getenv("DIFFBENCH_MODULES");
  if (folder != nullptr && *folder != '\0') {
    return fs::path(folder) / "mpi.so";
  }
  return program_path().parent_path().parent_path() / "lib/diffbench/mpi.so";
}

[[noreturn]] void missing(const std::string& why) {
  throw Unavailable("module 'mpi': " + why + "; install libopenmpi-dev, configure and build again");
}

// The rest is read only when the text says that it is there.
bool is_of_this_build(const Module& module) {
  const Module own;
  return module.interface != nullptr && std::string_view(module.interface) == own.interface &&
         module.sizes == own.sizes;
}

// Symbols are global, because Open MPI opens plugins of its own, which in some builds of it are not
// linked with libmpi and look for its symbols among the global ones.
const Module& open_module() {
  const fs::path file = module_file();
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    missing("this build is without it, there is no '" + file.string() + "'");
  }
  SharedLibrary library(file, SharedLibrary::Symbols::global);
  if (!library.loaded()) {
    missing("it cannot be loaded: " + one_line(library.error()));
  }
  const Module* module = nullptr;
  if (!library.find("diffbench_cluster_module", module)) {
    missing("'" + file.string() + "' is not a module of this program");
  }
  if (!is_of_this_build(*module)) {
    throw Unavailable("module 'mpi': '" + file.string() +
                      "' belongs to another build: build and install again");
  }
  library.keep();
  return *module;
}

} // namespace

const Module& load_module() {
  static const Module& loaded = open_module();
  return loaded;
}

} // namespace diffbench::cluster
