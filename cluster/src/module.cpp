// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/module.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/shared_library.hpp"
#include "diffbench/text.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

fs::path module_file(std::string_view name) {
  const char* const folder = std::getenv("DIFFBENCH_MODULES");
  const std::string file = std::string(name) + ".so";
  if (folder != nullptr && *folder != '\0') {
    return fs::path(folder) / file;
  }
  return program_path().parent_path().parent_path() / "lib/diffbench" / file;
}

std::string packages(std::string_view name) {
  return name == "mpi" ? "libopenmpi-dev" : "libhdf5-dev";
}

[[noreturn]] void fail(std::string_view name, const std::string& why) {
  throw Unavailable("module '" + std::string(name) + "': " + why + "; install " + packages(name) +
                    ", configure and build again");
}

// The rest is read only when the text says that it is there.
bool is_of_this_build(const Module& module) {
  const Module own;
  return module.interface != nullptr && std::string_view(module.interface) == own.interface &&
         module.sizes == own.sizes;
}

// Symbols are global, because Open MPI opens plugins of its own, which in some builds of it are not
// linked with libmpi and look for its symbols among the global ones.
const Module& open_module(std::string_view name) {
  const fs::path file = module_file(name);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    fail(name, "this build is without it, there is no '" + file.string() + "'");
  }
  SharedLibrary library(file, SharedLibrary::Symbols::global);
  if (!library.loaded()) {
    fail(name, "it cannot be loaded: " + one_line(library.error()));
  }
  const Module* module = nullptr;
  if (!library.find("diffbench_cluster_module", module)) {
    fail(name, "'" + file.string() + "' is not a module of this program");
  }
  if (!is_of_this_build(*module)) {
    throw Unavailable("module '" + std::string(name) + "': '" + file.string() +
                      "' belongs to another build: build and install again");
  }
  library.keep();
  return *module;
}

} // namespace

const Module& load_module(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, const Module*, std::less<>> loaded;
  const std::lock_guard lock(mutex);
  auto found = loaded.find(name);
  if (found == loaded.end()) {
    found = loaded.emplace(name, &open_module(name)).first;
  }
  return *found->second;
}

} // namespace diffbench::cluster
