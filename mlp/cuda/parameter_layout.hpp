// SPDX-License-Identifier: Apache-2.0
// Where parameters lie on a device: the weights of all layers, then the biases of all, so that a
// kernel can be run over the biases alone; each array begins at a whole 256 bytes, as the library's
// fastest products want it. What lies between is 0 and stays so.
#pragma once

#include "diffbench/mlp/network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diffbench::mlp::cuda {

class ParameterLayout {
 public:
  explicit ParameterLayout(const Network& network) : network_(network) {
    const auto place = [this](std::int64_t count) {
      const std::int64_t begin = size_;
      size_ += (count + alignment - 1) / alignment * alignment;
      return begin;
    };
    for (std::int64_t l = 0; l < network.layers(); ++l) {
      weights_.push_back(place(network.inputs(l) * network.outputs(l)));
    }
    first_bias_ = size_;
    for (std::int64_t l = 0; l < network.layers(); ++l) {
      biases_.push_back(place(network.outputs(l)));
    }
  }

  [[nodiscard]] std::int64_t weights_at(std::size_t layer) const { return weights_[layer]; }
  [[nodiscard]] std::int64_t biases_at(std::size_t layer) const { return biases_[layer]; }
  [[nodiscard]] std::int64_t first_bias() const { return first_bias_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  /// From the order of Network to this one, and back.
  template <typename T>
  void spread(const T* parameters, T* here) const {
    each([&](std::int64_t there, std::int64_t at, std::int64_t count) {
      std::copy_n(parameters + there, count, here + at);
    });
  }
  template <typename T>
  void gather(const T* here, T* parameters) const {
    each([&](std::int64_t there, std::int64_t at, std::int64_t count) {
      std::copy_n(here + at, count, parameters + there);
    });
  }

 private:
  static constexpr std::int64_t alignment = 64; ///< parameters: 256 bytes of float32

  template <typename Visit>
  void each(Visit visit) const {
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      const auto i = static_cast<std::size_t>(l);
      visit(network_.weights_at(l), weights_[i], network_.inputs(l) * network_.outputs(l));
      visit(network_.biases_at(l), biases_[i], network_.outputs(l));
    }
  }

  Network network_;
  std::vector<std::int64_t> weights_, biases_;
  std::int64_t first_bias_ = 0;
  std::int64_t size_ = 0;
};

} // namespace diffbench::mlp::cuda
