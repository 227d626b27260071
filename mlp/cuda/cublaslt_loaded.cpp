// cuBLASLt from the toolkit's shared library. Of half a gigabyte, it is not linked: the program
// must start, and its other engines run, where it is missing.
#include "cublaslt.hpp"

#include <dlfcn.h>

namespace diffbench::mlp::cuda {

namespace {

// The library of the header's version: structures and values may differ in another.
const std::string library_name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);

void* find(void* library, const char* name) {
  void* const function = dlsym(library, name);
  if (function == nullptr) {
    throw Unavailable(library_name + " has no function " + name);
  }
  return function;
}

CublasLt load() {
  // Never closed: its threads and contexts outlive what a caller can know.
  void* const library = dlopen(library_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Unavailable(std::string(why != nullptr ? why : library_name) +
                      "; it is part of the CUDA Toolkit, put its lib64 into LD_LIBRARY_PATH");
  }
  CublasLt functions{};
#define DIFFBENCH_LOAD(name) \
  functions.name = reinterpret_cast<decltype(functions.name)>(find(library, #name));
  DIFFBENCH_CUBLASLT_FUNCTIONS(DIFFBENCH_LOAD)
#undef DIFFBENCH_LOAD
  return functions;
}

} // namespace

const CublasLt& cublaslt() {
  static const CublasLt functions = load(); // tried again after a failure
  return functions;
}

} // namespace diffbench::mlp::cuda
