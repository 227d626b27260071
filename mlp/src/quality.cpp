// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/quality.hpp"

#include <cmath>
#include <cstddef>

namespace diffbench::mlp {

namespace {

double quotient(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void add(Scores& sum, const Scores& scores, double weight) {
  sum.precision += weight * scores.precision;
  sum.recall += weight * scores.recall;
  sum.f1 += weight * scores.f1;
  sum.support += scores.support;
}

} // namespace

Quality quality_of(std::span<const float> outputs, std::int64_t classes,
                   std::span<const std::int32_t> labels) {
  const auto count = static_cast<std::size_t>(classes);
  std::vector<std::int64_t> given(count), right(count);
  Quality quality{.classes = std::vector<Scores>(count), .macro = {}, .weighted = {}};
  const auto rows = static_cast<std::int64_t>(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> output = outputs.subspan(row * count, count);
    std::size_t largest = 0;
    for (std::size_t c = 1; c < count; ++c) {
      if (output[c] > output[largest] || std::isnan(output[largest])) {
        largest = c;
      }
    }
    const auto label = static_cast<std::size_t>(labels[row]);
    ++given[largest];
    ++quality.classes[label].support;
    largest == label ? ++right[label] : ++quality.errors;
  }
  for (std::size_t c = 0; c < count; ++c) {
    Scores& scores = quality.classes[c];
    scores.precision = quotient(right[c], given[c]);
    scores.recall = quotient(right[c], scores.support);
    scores.f1 = quotient(2 * right[c], given[c] + scores.support);
    add(quality.macro, scores, 1 / static_cast<double>(classes));
    add(quality.weighted, scores, quotient(scores.support, rows));
  }
  quality.accuracy = 1 - quotient(quality.errors, rows);
  return quality;
}

} // namespace diffbench::mlp
