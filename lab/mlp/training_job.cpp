// SPDX-License-Identifier: Apache-2.0
#include "training_job.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/training.hpp"
#include "options.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <utility>

namespace diffbench::bench {

mlp::DataSet made_up_images(std::int64_t rows, std::int64_t pixels, std::int64_t classes,
                            std::uint64_t seed) {
  mlp::DataSet data{
      .name = "made-up rows", .features = pixels, .classes = classes, .values = {}, .labels = {}};
  data.values.resize(static_cast<std::size_t>(rows * pixels));
  data.labels.resize(static_cast<std::size_t>(rows));
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    // Beyond what caches hold the numbers come again: drawing takes longer than copying.
    constexpr std::size_t period = 5'000'011; // a prime, so that no two rows are alike
    data.values[i] =
        i < period ? static_cast<float>(random() >> 8U) * 0x1p-24F : data.values[i - period];
  }
  for (std::int32_t& label : data.labels) {
    label = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(classes));
  }
  return data;
}

std::vector<float> random_rows(const mlp::Network& network, std::int64_t rows) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> features(static_cast<std::size_t>(rows * network.inputs()));
  std::ranges::generate(features, [&] { return normal(generator); });
  return features;
}

std::span<const float> TrainingJob::features(std::int64_t step) const {
  const auto size = static_cast<std::size_t>(training.batch * data.features);
  return std::span(data.values).subspan(static_cast<std::size_t>(step % batches()) * size, size);
}

std::span<const std::int32_t> TrainingJob::labels(std::int64_t step) const {
  const auto size = static_cast<std::size_t>(training.batch);
  return std::span(data.labels).subspan(static_cast<std::size_t>(step % batches()) * size, size);
}

TrainingJob make_job(mlp::Training training, mlp::DataSet data, std::uint64_t seed) {
  mlp::check_fits(training, data);
  const auto rows = static_cast<std::size_t>(data.rows() / training.batch * training.batch);
  data.labels.resize(rows);
  data.values.resize(rows * static_cast<std::size_t>(data.features));
  std::vector<float> start(static_cast<std::size_t>(training.network.parameters()));
  mlp::initialize<float>(training.network, seed, start);
  return {.training = std::move(training), .start = std::move(start), .data = std::move(data)};
}

std::string row_name(const std::string& engine, int threads) {
  return threads == 0 ? engine : fmt::format("{}, {}", engine, counted(threads, "thread"));
}

SampleSeries series_of(std::string_view family, const mlp::Network& network, std::string_view name,
                       const TimedRow& row) {
  return {.name = fmt::format("mlp/{}/{}/{}", family, fmt::join(network.widths(), "-"), name),
          .threads = row.provenance.threads,
          .samples = row.samples};
}

} // namespace diffbench::bench
