#include "mlp/output_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t rows_at_each_end = 16;
constexpr double error_of_a_layer = 1e-5;

std::vector<double> reference_outputs(const TrainingJob& job, std::int64_t row) {
  const mlp::Network& network = job.training.network;
  const auto from = job.data.values.begin() + row * network.inputs();
  std::vector<double> values(from, from + network.inputs());
  for (std::int64_t layer = 0; layer < network.layers(); ++layer) {
    const float* const weights = job.start.data() + network.weights_at(layer);
    const float* const biases = job.start.data() + network.biases_at(layer);
    std::vector<double> next;
    for (std::int64_t o = 0; o < network.outputs(layer); ++o) {
      auto sum = static_cast<double>(biases[o]);
      for (std::int64_t i = 0; i < network.inputs(layer); ++i) {
        sum += static_cast<double>(weights[o * network.inputs(layer) + i]) *
               values[static_cast<std::size_t>(i)];
      }
      next.push_back(layer + 1 < network.layers() ? std::max(0.0, sum) : sum);
    }
    values = std::move(next);
  }
  return values;
}

} // namespace

StepCheck check_outputs(const TrainingJob& job, std::span<const float> outputs) {
  const mlp::Network& network = job.training.network;
  StepCheck check;
  for (std::int64_t row = 0; row < job.data.rows(); ++row) {
    if (row >= rows_at_each_end && row < job.data.rows() - rows_at_each_end) {
      continue;
    }
    const std::vector<double> expected = reference_outputs(job, row);
    double largest = 0;
    for (const double value : expected) {
      largest = std::max(largest, std::abs(value));
    }
    const double bound = error_of_a_layer * static_cast<double>(network.layers()) * largest;
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const auto at = static_cast<std::size_t>(row * network.classes()) + c;
      const double error = std::abs(static_cast<double>(outputs[at]) - expected[c]);
      if (!std::isfinite(error)) {
        ++check.nonfinite;
        continue;
      }
      check.max_abs_error = std::max(check.max_abs_error, error);
      check.share_of_bound = std::max(check.share_of_bound, error == 0 ? 0 : error / bound);
    }
  }
  return check;
}

} // namespace diffbench::bench
