// The checks of every transport, run by the module mpi under mpirun:
//
//   mpi_transport_test MODULE FOLDER        the lasting ones; FOLDER holds their files
//   mpi_transport_test MODULE FOLDER NAME   one of the last ones, or what leaves MPI (see below)
//
// As the program, it knows nothing of MPI but the module that it loads.
#include "diffbench/cluster/module.hpp"
#include "diffbench/shared_library.hpp"

#include "transport_checks.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<int> disk_waits = 0;
constexpr const char* over_quota = "over quota";

} // namespace

// In place of the system's, for all libraries of this process.
extern "C" int fsync(int) {
  ++disk_waits;
  return 0;
}
// As network file systems do: what was written did not fit.
extern "C" int close(int file) {
  std::error_code ignored;
  const auto name =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), ignored).filename();
  const auto result = static_cast<int>(::syscall(SYS_close, file));
  if (name == over_quota) {
    errno = EDQUOT;
    return -1;
  }
  return result;
}

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

void write_that_fails_at_the_end(Transport& transport, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / over_quota;
  if (transport.rank() == 0) {
    std::ofstream(file, std::ios::trunc);
  }
  checks::meet(transport);
  const std::byte one{1};
  const std::string message = checks::error_of<Error>("over quota", [&] {
    transport.write_at(file, transport.rank(), {&one, 1});
  });
  checks::require(message.find("uota") != message.npos, message);
}

void run_lasting(Transport& transport, const std::filesystem::path& folder) {
  for (const checks::Check& check : checks::lasting) {
    try {
      transport.set_time_limit(60);
      check.run(transport, folder);
      checks::require(disk_waits == 0, "it waited for the disk");
    } catch (const std::exception& error) {
      // The others would wait.
      transport.end_all(std::string("FAILED: ") + check.name + ": " + error.what());
    }
  }
  try {
    write_that_fails_at_the_end(transport, folder);
  } catch (const std::exception& error) {
    transport.end_all(std::string("FAILED: ") + error.what());
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
}

int run(int count, char** arguments) {
  const auto transport = load(arguments[1]).connect();
  if (count == 3) {
    run_lasting(*transport, arguments[2]);
  } else {
    try {
      run_named(*transport, arguments[3]);
    } catch (const CheckFailed& failure) {
      transport->end_all(std::string("FAILED: ") + failure.what());
    }
  }
  return EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: %s MODULE FOLDER [NAME]\n", arguments[0]);
    return 2;
  }
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caught: %s\n", error.what());
    return 3;
  }
}
