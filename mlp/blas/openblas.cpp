// SPDX-License-Identifier: Apache-2.0
// The functions of OpenBLAS in use, under their own names: each calls that of the shared library,
// which is loaded at the first call.
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

template <typename T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int rows, int columns, int depth,
                      T alpha, const T* a, int a_row, const T* b, int b_row, T beta, T* c,
                      int c_row);
template <typename T>
using Syrk = void (*)(int order, int triangle, int transpose, int rows, int depth, T alpha,
                      const T* a, int a_row, T beta, T* c, int c_row);

template <typename T>
using Gemv = void (*)(int order, int transpose, int rows, int columns, T alpha, const T* a,
                      int a_row, const T* x, int x_step, T beta, T* y, int y_step);
template <typename T>
using Dot = T (*)(int count, const T* x, int x_step, const T* y, int y_step);

struct Functions {
  Gemm<float> sgemm;
  Gemm<double> dgemm;
  Syrk<float> ssyrk;
  Syrk<double> dsyrk;
  // Of vectors, which nobody multiplies: xtensor-blas has them compiled all the same.
  Gemv<float> sgemv;
  Gemv<double> dgemv;
  Dot<float> sdot;
  Dot<double> ddot;
  void (*set_num_threads)(int threads);
  char* (*get_config)();
};

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

Functions load() {
  require_memory();
  require_threads();
  SharedLibrary library(library_name);
  if (!library.loaded()) {
    throw Unavailable(library.error() + "; apt-get install libopenblas0");
  }
  Functions functions{};
  library.require("cblas_sgemm", functions.sgemm);
  library.require("cblas_dgemm", functions.dgemm);
  library.require("cblas_ssyrk", functions.ssyrk);
  library.require("cblas_dsyrk", functions.dsyrk);
  library.require("cblas_sgemv", functions.sgemv);
  library.require("cblas_dgemv", functions.dgemv);
  library.require("cblas_sdot", functions.sdot);
  library.require("cblas_ddot", functions.ddot);
  library.require("openblas_set_num_threads", functions.set_num_threads);
  library.require("openblas_get_config", functions.get_config);
  library.keep(); // for its threads
  return functions;
}

const Functions& openblas() {
  static const Functions functions = load(); // tried again after a failure
  return functions;
}

} // namespace

void load_openblas() { (void)openblas(); }

Probe probe_openblas(int /*device*/) noexcept {
  try {
    load_openblas();
    return {.available = true, .reason = {}};
  } catch (const std::exception& error) {
    return {.available = false, .reason = error.what()};
  }
}

} // namespace diffbench::mlp

extern "C" {

void cblas_sgemm(int order, int transpose_a, int transpose_b, int rows, int columns, int depth,
                 float alpha, const float* a, int a_row, const float* b, int b_row, float beta,
                 float* c, int c_row) {
  diffbench::mlp::openblas().sgemm(order, transpose_a, transpose_b, rows, columns, depth, alpha, a,
                                   a_row, b, b_row, beta, c, c_row);
}

void cblas_dgemm(int order, int transpose_a, int transpose_b, int rows, int columns, int depth,
                 double alpha, const double* a, int a_row, const double* b, int b_row, double beta,
                 double* c, int c_row) {
  diffbench::mlp::openblas().dgemm(order, transpose_a, transpose_b, rows, columns, depth, alpha, a,
                                   a_row, b, b_row, beta, c, c_row);
}

void cblas_ssyrk(int order, int triangle, int transpose, int rows, int depth, float alpha,
                 const float* a, int a_row, float beta, float* c, int c_row) {
  diffbench::mlp::openblas().ssyrk(order, triangle, transpose, rows, depth, alpha, a, a_row, beta,
                                   c, c_row);
}

void cblas_dsyrk(int order, int triangle, int transpose, int rows, int depth, double alpha,
                 const double* a, int a_row, double beta, double* c, int c_row) {
  diffbench::mlp::openblas().dsyrk(order, triangle, transpose, rows, depth, alpha, a, a_row, beta,
                                   c, c_row);
}

void cblas_sgemv(int order, int transpose, int rows, int columns, float alpha, const float* a,
                 int a_row, const float* x, int x_step, float beta, float* y, int y_step) {
  diffbench::mlp::openblas().sgemv(order, transpose, rows, columns, alpha, a, a_row, x, x_step,
                                   beta, y, y_step);
}

void cblas_dgemv(int order, int transpose, int rows, int columns, double alpha, const double* a,
                 int a_row, const double* x, int x_step, double beta, double* y, int y_step) {
  diffbench::mlp::openblas().dgemv(order, transpose, rows, columns, alpha, a, a_row, x, x_step,
                                   beta, y, y_step);
}

float cblas_sdot(int count, const float* x, int x_step, const float* y, int y_step) {
  return diffbench::mlp::openblas().sdot(count, x, x_step, y, y_step);
}

double cblas_ddot(int count, const double* x, int x_step, const double* y, int y_step) {
  return diffbench::mlp::openblas().ddot(count, x, x_step, y, y_step);
}

void openblas_set_num_threads(int threads) { diffbench::mlp::openblas().set_num_threads(threads); }

char* openblas_get_config() { return diffbench::mlp::openblas().get_config(); }

} // extern "C"
