// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/engine.hpp"

namespace diffbench::mlp {

EngineInfo require_engine(std::string_view name, int device) {
  return require_entry("engine", all_engines(), missing_engines(), "is not compiled; ", name,
                       device);
}

} // namespace diffbench::mlp
