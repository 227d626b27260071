// SPDX-License-Identifier: Apache-2.0
// From a dtype that is known when the program runs to code for its type.
#pragma once

#include "diffbench/problem.hpp"

namespace diffbench {

/// What `use` returns for a 0 of that type: `[&]<typename T>(T) { return solve<T>(problem); }`.
template <typename Use>
auto with_dtype(Dtype dtype, Use use) {
  return dtype == Dtype::float32 ? use(0.0F) : use(0.0);
}

} // namespace diffbench
