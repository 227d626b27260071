// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/network.hpp"

#include "diffbench/errors.hpp"
#include "random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace diffbench::mlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NetworkTest, ParametersLieAsPyTorchListsThem) {
  const Network network({2, 4, 3});
  EXPECT_EQ(network.layers(), 2);
  EXPECT_EQ(network.classes(), 3);
  EXPECT_EQ(network.weights_at(0), 0);
  EXPECT_EQ(network.biases_at(0), 8);
  EXPECT_EQ(network.weights_at(1), 12);
  EXPECT_EQ(network.biases_at(1), 24);
  EXPECT_EQ(network.parameters(), 27);
  // Forward and gradient of the weights for both layers, gradient of the inputs for the second.
  EXPECT_EQ(network.flops_per_step(10), 2 * 10 * (2 * 2 * 4 + 3 * 4 * 3));
}

// The tutorial's table of nets.
TEST(NetworkTest, DoublingNetsHaveTheTutorialsParameters) {
  EXPECT_THAT(doubling_network(8).widths(), ElementsAre(2, 4, 8, 2));
  EXPECT_EQ(doubling_network(8).parameters(), 70);
  EXPECT_EQ(doubling_network(64).parameters(), 2982);
  EXPECT_EQ(doubling_network(256).parameters(), 44710);
  EXPECT_EQ(doubling_network(1024).parameters(), 703142);
  for (const std::int64_t last : {0, 2, 3, 6, 1000}) {
    EXPECT_THROW((void)doubling_network(last), InvalidInput) << last;
  }
}

TEST(NetworkTest, LayersAreRead) {
  EXPECT_EQ(parse_layers("2,4,8,2"), Network({2, 4, 8, 2}));
  EXPECT_EQ(to_string(parse_layers("784,128,10")), "784,128,10");
  for (const char* text : {"", "2", ",", "2,", ",2", "2,,2", "2,x", "2 ,2", "2,0", "2,-1", "2,1e3",
                           "2,99999999999999999999", "2,1048577"}) {
    EXPECT_THROW((void)parse_layers(text), InvalidInput) << text;
  }
  try {
    (void)parse_layers("2,four,2");
    FAIL() << "read";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("2,four,2"));
  }
}

TEST(Initialize, IsUniformWithinTheBoundOfEachLayer) {
  const Network network({100, 50, 2});
  std::vector<double> parameters(static_cast<std::size_t>(network.parameters()));
  initialize<double>(network, 7, parameters);
  auto check = [&](std::int64_t layer, double bound) {
    const auto begin = parameters.begin() + network.weights_at(layer);
    const auto end = parameters.begin() + network.weights_at(layer + 1);
    const auto [low, high] = std::minmax_element(begin, end);
    EXPECT_GE(*low, -bound);
    EXPECT_LE(*high, bound);
    EXPECT_LE(*low, -0.9 * bound);
    EXPECT_GE(*high, 0.9 * bound);
    const double mean = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
    EXPECT_LE(std::abs(mean), 0.2 * bound);
  };
  check(0, 0.1);
  check(1, 1 / std::sqrt(50));
}

TEST(Initialize, IsTheSameOnEveryMachine) {
  const Network network({2, 2});
  std::vector<float> parameters(6);
  initialize<float>(network, 1, parameters);
  // mt19937_64 is defined to the bit; its first number from seed 1 is 2469588189546311528.
  const double first = (2469588189546311528ULL >> 11) * 0x1p-53;
  EXPECT_EQ(parameters[0], static_cast<float>((2 * first - 1) / std::sqrt(2)));
  std::vector<float> other(6);
  initialize<float>(network, 2, other);
  EXPECT_NE(parameters, other);
}

TEST(RandomTest, AShuffleIsAPermutationAndDependsOnTheSeed) {
  std::vector<int> order(100);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> sorted = order;
  Random(3).shuffle(std::span(order));
  EXPECT_NE(order, sorted);
  std::vector<int> other = sorted;
  Random(4).shuffle(std::span(other));
  EXPECT_NE(order, other);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
}

} // namespace
} // namespace diffbench::mlp
