// SPDX-License-Identifier: Apache-2.0
// The network that all engines train: linear layers with ReLU between them, and softmax
// cross-entropy over the outputs. Definitions are PyTorch's (torch.nn.Linear, ReLU,
// CrossEntropyLoss), so that a run started from PyTorch's weights follows PyTorch's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::mlp {

/// Widths of the network: inputs, hidden layers, classes. Layer l maps widths[l] to widths[l+1].
///
/// Parameters are one array: for each layer its weights, row-major [outputs][inputs], then its
/// biases [outputs], as Sequential(Linear, ReLU, Linear, ...).parameters() lists them.
class Network {
 public:
  /// Throws InvalidInput for fewer than two widths, or one outside 1..max_width.
  explicit Network(std::vector<std::int64_t> widths);

  [[nodiscard]] const std::vector<std::int64_t>& widths() const { return widths_; }
  [[nodiscard]] std::int64_t layers() const {
    return static_cast<std::int64_t>(widths_.size()) - 1;
  }
  [[nodiscard]] std::int64_t inputs(std::int64_t layer = 0) const {
    return widths_[static_cast<std::size_t>(layer)];
  }
  [[nodiscard]] std::int64_t outputs(std::int64_t layer) const { return inputs(layer + 1); }
  [[nodiscard]] std::int64_t classes() const { return widths_.back(); }

  /// Numbers that are trained.
  [[nodiscard]] std::int64_t parameters() const { return weights_at(layers()); }
  /// Where a layer's weights begin in the array of parameters.
  [[nodiscard]] std::int64_t weights_at(std::int64_t layer) const;
  [[nodiscard]] std::int64_t biases_at(std::int64_t layer) const {
    return weights_at(layer) + inputs(layer) * outputs(layer);
  }
  /// Additions and multiplications of a training step on `batch` rows that are matrix products:
  /// forward, gradient of the weights, and but for the first layer gradient of the inputs.
  [[nodiscard]] double flops_per_step(std::int64_t batch) const;

  bool operator==(const Network&) const = default;

 private:
  std::vector<std::int64_t> widths_;
};

inline constexpr std::int64_t max_width = 1 << 20;

/// "2,4,8,2". Throws InvalidInput, naming what is wrong.
[[nodiscard]] Network parse_layers(std::string_view text);
/// The other way round.
[[nodiscard]] std::string to_string(const Network& network);

/// The tutorial's nets whose layers double: 2-4-8-...-last-2. `last` is a power of two from 4.
[[nodiscard]] Network doubling_network(std::int64_t last);

/// Weights and biases uniform in +-1/sqrt(inputs of the layer), PyTorch's default, from a seed: the
/// same numbers on every machine (but not PyTorch's own, whose generator is another).
/// `parameters` has network.parameters() elements.
template <typename T>
void initialize(const Network& network, std::uint64_t seed, std::span<T> parameters);

} // namespace diffbench::mlp
