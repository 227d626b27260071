// SPDX-License-Identifier: Apache-2.0
#include "diffbench/shared_library.hpp"

#include "diffbench/errors.hpp"

#include <dlfcn.h>

namespace diffbench {

// RTLD_NOW: what the library lacks shows here and not in the middle of a run.
SharedLibrary::SharedLibrary(const std::string& file, Symbols symbols)
    : file_(file),
      handle_(::dlopen(file.c_str(),
                       RTLD_NOW | (symbols == Symbols::global ? RTLD_GLOBAL : RTLD_LOCAL))) {
  if (handle_ == nullptr) {
    const char* const why = ::dlerror();
    error_ = why != nullptr ? why : file;
  }
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) {
    ::dlclose(handle_);
  }
}

void* SharedLibrary::address(const char* name) const {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr; // which would be the program itself
}

void SharedLibrary::lacks(const char* name) const {
  throw Unavailable(file_ + " has no function " + name);
}

} // namespace diffbench
