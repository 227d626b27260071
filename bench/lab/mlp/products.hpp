// The matrix products of a training step alone, by OpenBLAS: the roof of every step.
#pragma once

#include "timed_steps.hpp"

#include <memory>

namespace diffbench::bench {

/// On random numbers, the same memory in every step. Its fetch() throws. Throws Unavailable where
/// the build found no OpenBLAS.
[[nodiscard]] std::unique_ptr<TimedSteps> products_steps(int threads, const TrainingJob& job);

} // namespace diffbench::bench
