// SPDX-License-Identifier: Apache-2.0
// cuBLASLt from the toolkit's shared library. Of half a gigabyte, it is not linked: the program
// must start, and its other engines run, where it is missing.
#include "cublaslt.hpp"

#include "diffbench/shared_library.hpp"

namespace diffbench::mlp::cuda {

namespace {

// The library of the header's version: structures and values may differ in another.
const std::string library_name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);

CublasLt load() {
  SharedLibrary library(library_name);
  if (!library.loaded()) {
    throw Unavailable(library.error() +
                      "; it is part of the CUDA Toolkit, put its lib64 into LD_LIBRARY_PATH");
  }
  CublasLt functions{};
#define DIFFBENCH_LOAD(name) library.require(#name, functions.name);
  DIFFBENCH_CUBLASLT_FUNCTIONS(DIFFBENCH_LOAD)
#undef DIFFBENCH_LOAD
  library.keep(); // its threads and contexts outlive what a caller can know
  return functions;
}

} // namespace

const CublasLt& cublaslt() {
  static const CublasLt functions = load(); // tried again after a failure
  return functions;
}

} // namespace diffbench::mlp::cuda
