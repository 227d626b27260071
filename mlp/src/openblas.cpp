// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/openblas.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/shared_library.hpp"
#include "diffbench/workers.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <string>

namespace diffbench::mlp {

namespace {

constexpr const char* library_name = "libopenblas.so.0";

/// Of the library itself, and of each of its threads: a stack and a buffer.
constexpr std::int64_t library_bytes = std::int64_t{256} << 20;
constexpr std::int64_t thread_bytes = std::int64_t{64} << 20;

/// Where it gets no memory it asks for ever, and heeds no signal.
void require_memory() {
  struct Limit {
    decltype(RLIMIT_AS) resource;
    std::size_t used; // which number of /proc/self/statm, in pages
    const char* ulimit;
  };
  std::array<std::int64_t, 6> pages{}; // 0 where it cannot be read
  std::ifstream statm("/proc/self/statm");
  for (std::int64_t& number : pages) {
    statm >> number;
  }
  for (const Limit& limit : {Limit{RLIMIT_AS, 0, "-v"}, Limit{RLIMIT_DATA, 5, "-d"}}) {
    rlimit bytes{};
    if (getrlimit(limit.resource, &bytes) != 0 || bytes.rlim_cur == RLIM_INFINITY) {
      continue;
    }
    const std::int64_t left =
        static_cast<std::int64_t>(bytes.rlim_cur) - pages.at(limit.used) * getpagesize();
    const std::int64_t need = library_bytes + usable_cpus() * thread_bytes;
    if (left < need) {
      throw Unavailable("OpenBLAS needs " + std::to_string(need >> 20) +
                        " MiB of memory, and ulimit " + limit.ulimit + " leaves " +
                        std::to_string(left >> 20));
    }
  }
}

/// As many threads as the library is about to start.
void require_threads() {
  try {
    const Workers team(usable_cpus());
  } catch (const Error& error) {
    throw Unavailable(std::string("OpenBLAS needs a thread for each CPU, and ") + error.what());
  }
}

OpenBlas load() {
  require_memory();
  require_threads();
  SharedLibrary library(library_name);
  if (!library.loaded()) {
    throw Unavailable(library.error() + "; apt-get install libopenblas0");
  }
  OpenBlas functions;
  library.require("cblas_sgemm", functions.sgemm);
  library.require("cblas_dgemm", functions.dgemm);
  library.require("openblas_set_num_threads", functions.set_num_threads);
  library.require("openblas_get_config", functions.get_config);
  library.keep(); // for its threads
  return functions;
}

} // namespace

const OpenBlas& openblas() {
  static const OpenBlas functions = load(); // tried again after a failure
  return functions;
}

Probe probe_openblas(int /*device*/) noexcept {
  try {
    (void)openblas();
    return {.available = true, .reason = {}};
  } catch (const std::exception& error) {
    return {.available = false, .reason = error.what()};
  }
}

} // namespace diffbench::mlp
