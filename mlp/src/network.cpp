// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/network.hpp"

#include "diffbench/errors.hpp"
#include "random.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

namespace diffbench::mlp {

Network::Network(std::vector<std::int64_t> widths) : widths_(std::move(widths)) {
  if (widths_.size() < 2) {
    throw InvalidInput("a network has at least two widths, its inputs and its classes: 2,4,8,2");
  }
  for (const std::int64_t width : widths_) {
    if (width < 1 || width > max_width) {
      throw InvalidInput("a layer of width " + std::to_string(width) + ": give 1 to " +
                         std::to_string(max_width));
    }
  }
}

std::int64_t Network::weights_at(std::int64_t layer) const {
  std::int64_t offset = 0;
  for (std::int64_t l = 0; l < layer; ++l) {
    offset += (inputs(l) + 1) * outputs(l);
  }
  return offset;
}

double Network::flops_per_step(std::int64_t batch) const {
  double flops = 0;
  for (std::int64_t l = 0; l < layers(); ++l) {
    const double products = l == 0 ? 2 : 3;
    flops += 2 * products * static_cast<double>(batch) * static_cast<double>(inputs(l)) *
             static_cast<double>(outputs(l));
  }
  return flops;
}

Network parse_layers(std::string_view text) {
  std::vector<std::int64_t> widths;
  const std::string_view all = text;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
    std::int64_t width = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), width);
    if (error != std::errc() || end != part.data() + part.size()) {
      throw InvalidInput("layers '" + std::string(all) +
                         "': give widths with commas between, such as 2,4,8,2");
    }
    widths.push_back(width);
  }
  return Network(std::move(widths));
}

std::string to_string(const Network& network) {
  std::string text;
  for (const std::int64_t width : network.widths()) {
    text += (text.empty() ? "" : ",") + std::to_string(width);
  }
  return text;
}

Network doubling_network(std::int64_t last) {
  if (last < 4 || (last & (last - 1)) != 0) {
    throw InvalidInput("a doubling net ends in a power of two from 4 on, not in " +
                       std::to_string(last));
  }
  std::vector<std::int64_t> widths;
  for (std::int64_t width = 2; width <= last; width *= 2) {
    widths.push_back(width);
  }
  widths.push_back(2);
  return Network(std::move(widths));
}

template <typename T>
void initialize(const Network& network, std::uint64_t seed, std::span<T> parameters) {
  Random random(seed);
  auto next = parameters.begin();
  for (std::int64_t l = 0; l < network.layers(); ++l) {
    const double bound = 1 / std::sqrt(static_cast<double>(network.inputs(l)));
    const std::int64_t count = (network.inputs(l) + 1) * network.outputs(l);
    next = std::generate_n(next, count,
                           [&] { return static_cast<T>(bound * (2 * random.uniform() - 1)); });
  }
}

template void initialize(const Network&, std::uint64_t, std::span<float>);
template void initialize(const Network&, std::uint64_t, std::span<double>);

} // namespace diffbench::mlp
