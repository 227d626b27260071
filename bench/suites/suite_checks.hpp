// Why a benchmark of the suites is not timed; also for code that nvcc compiles.
#pragma once

#include "diffbench/errors.hpp"

#include <cstdint>
#include <string_view>

namespace diffbench::bench {

/// A check of a benchmark's result failed. The exit code is then 3.
class WrongResult : public Error {
 public:
  using Error::Error;
};

/// Throws Unavailable, with both figures, unless `need` bytes are `free` on the host or the GPU.
void require_memory(std::string_view where, std::int64_t need, std::int64_t free);

} // namespace diffbench::bench
