// SPDX-License-Identifier: Apache-2.0
#include "step_work.hpp"

#include "units.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

std::string to_text(const StepWork& work) {
  return fmt::format("{} of {}x{} {} cells", counted(work.iterations, "step"), work.nx, work.ny,
                     to_string(work.dtype));
}

Value work_json(const StepWork& work) {
  return {{"nx", work.nx},
          {"ny", work.ny},
          {"iterations", work.iterations},
          {"dtype", std::string(to_string(work.dtype))}};
}

} // namespace diffbench::bench
