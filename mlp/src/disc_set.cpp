// SPDX-License-Identifier: Apache-2.0
#include "diffbench/errors.hpp"
#include "diffbench/mlp/data.hpp"
#include "random.hpp"

#include <cmath>
#include <numbers>

namespace diffbench::mlp {

namespace {

DataSet points(std::int64_t rows, Random& random) {
  DataSet set{.name = "disc", .features = 2, .classes = 2, .values = {}, .labels = {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    const double x = random.uniform();
    const double y = random.uniform();
    set.values.push_back(static_cast<float>(x));
    set.values.push_back(static_cast<float>(y));
    set.labels.push_back(x * x + y * y < 1 / (2 * std::numbers::pi) ? 1 : 0);
  }
  return set;
}

} // namespace

Split disc_set(std::int64_t rows, std::uint64_t seed) {
  if (rows < 2) {
    throw InvalidInput("a disc set has at least two points");
  }
  Random random(seed);
  Split split{.train = points(rows, random), .test = points(rows, random)};
  const auto count = static_cast<double>(split.train.values.size());
  double mean = 0;
  for (const float value : split.train.values) {
    mean += static_cast<double>(value) / count;
  }
  double squares = 0;
  for (const float value : split.train.values) {
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  }
  const double deviation = std::sqrt(squares / (count - 1));
  for (DataSet* set : {&split.train, &split.test}) {
    for (float& value : set->values) {
      value = static_cast<float>((static_cast<double>(value) - mean) / deviation);
    }
  }
  return split;
}

} // namespace diffbench::mlp
