#include "training_job.hpp"

#include "diffbench/mlp/training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <utility>

namespace diffbench::bench {

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
  return threads == 0 ? engine
                      : fmt::format("{}, {} thread{}", engine, threads, threads == 1 ? "" : "s");
}

std::string series_name(std::string_view family, const mlp::Network& network,
                        std::string_view row) {
  return fmt::format("mlp/{}/{}/{}", family, fmt::join(network.widths(), "-"), row);
}

} // namespace diffbench::bench
