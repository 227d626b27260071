// The proof beside a rate of answers: a network's outputs against float64.
#pragma once

#include "mlp/step_check.hpp"

#include <span>

namespace diffbench::bench {

/// `outputs` of the job's first parameters on all its rows, of which the first and the last 16 are
/// computed again. An output may be off by 1e-5 of the largest of its row for each layer: sums of
/// n products of float32 are, by chance, good to sqrt(n) 6e-8 of the sum of their sizes (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, 2.8), and n is a few thousand. The
/// check's steps are 0.
[[nodiscard]] StepCheck check_outputs(const TrainingJob& job, std::span<const float> outputs);

} // namespace diffbench::bench
