// SPDX-License-Identifier: Apache-2.0
#include "diffbench/registry.hpp"

namespace diffbench {

BackendInfo require_backend(std::string_view name, int device) {
  return require_entry("backend", all_backends(), missing_backends(),
                       "is not compiled into this build; to get it: ", name, device);
}

} // namespace diffbench
