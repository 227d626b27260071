#include "forward_check.hpp"

#include "diffbench/mlp/engine.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace diffbench::bench {

double output_error(const mlp::Network& network, std::span<const float> parameters,
                    std::span<const float> rows, std::span<const float> outputs) {
  const auto reference = mlp::require_engine("scalar").make<double>()(
      {.network = network, .optimizer = {}, .batch = 1}, {});
  reference->set_parameters(std::vector<double>(parameters.begin(), parameters.end()));
  std::vector<double> right(outputs.size());
  const std::vector<double> features(rows.begin(), rows.end());
  const auto inputs = static_cast<std::size_t>(network.inputs());
  const auto classes = static_cast<std::size_t>(network.classes());
  for (std::size_t row = 0; row < features.size() / inputs; ++row) {
    check_interrupt();
    reference->forward(std::span(features).subspan(row * inputs, inputs),
                       std::span(right).subspan(row * classes, classes));
  }
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    const double here = std::abs(static_cast<double>(outputs[i]) - right[i]);
    error = here <= error ? error : here; // keeps a NaN
  }
  return error / largest;
}

} // namespace diffbench::bench
