#include "forward_check.hpp"

#include "diffbench/mlp/engine.hpp"

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
  reference->forward(std::vector<double>(rows.begin(), rows.end()), right);
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
