// SPDX-License-Identifier: Apache-2.0
// CUDA C++ as a host's compiler can read it: a user's preprocessed .cu file, with what only nvcc
// knows replaced by calls of the emulated runtime (emulation/user_code.h has the table).
//
// Works on tokens, not on C++: what it does not recognize stays as it is, and what the emulation
// does not have is refused by name. Lines stay where they are, so that the compiler's messages and
// the emulation's findings have the user's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// A function of the user's, outside namespaces, with a body.
struct DefinedFunction {
  std::string name;
  bool kernel = false;
  bool takes_template = false;         ///< it is a template
  std::vector<std::string> parameters; ///< their tokens, with single spaces: "const float * u"
  int line = 0;
};

struct CudaTranslation {
  std::string text;               ///< to be compiled as preprocessed C++
  std::vector<std::string> files; ///< of the user's, as the compiler names them
  std::vector<DefinedFunction> functions;
};

/// Kernels a second time, without what says which memory they access, and their functions inlined;
/// compilers have an attribute of lambdas at another place each.
enum class QuickKernels { none, of_gcc, of_clang };

/// `preprocessed`: what the compiler's -E writes, with line markers; headers below
/// `emulation_folder` and those of the system are left alone. Throws InvalidInput, "my.cu:12: ...",
/// for what is not emulated.
[[nodiscard]] CudaTranslation translate_cuda(std::string_view preprocessed, QuickKernels quick);

/// Names of CUDA in the user's part of `preprocessed` that no header declares: each once, with its
/// first line, as "my.cu:12: cudaMemcpy3D is not emulated". For a file that does not compile.
[[nodiscard]] std::vector<std::string> unknown_cuda_names(std::string_view preprocessed);

} // namespace diffbench::bench
