// SPDX-License-Identifier: Apache-2.0
// What the suites measure, apart from Google Benchmark, so that nvcc can compile it too.
#pragma once

#include "diffbench/errors.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace diffbench::bench {

/// Makes `count` operations and returns when they are done.
using Operation = std::function<void(std::int64_t count)>;

/// A check of a benchmark's result failed. The exit code is then 3.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// Throws Unavailable, with both figures, unless `need` bytes are `free` on the host or the GPU.
void require_memory(std::string_view where, std::int64_t need, std::int64_t free);

} // namespace diffbench::bench
