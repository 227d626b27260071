// Whether other programs took CPU time while the rows were timed.
#pragma once

#include "result.hpp"

#include <optional>
#include <string>

namespace diffbench::bench {

/// A row on one thread that has worked all the time and was given less than a CPU says that other
/// programs ran; the times of all rows then suffer. A sentence for the reader, or nothing.
[[nodiscard]] std::optional<std::string> foreign_load(const ComparisonResult& result);

/// The same from the processor time that one-thread rows got and the wall time that they took.
[[nodiscard]] std::optional<std::string> foreign_load(double cpu_seconds, double wall_seconds);

} // namespace diffbench::bench
