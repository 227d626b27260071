// SPDX-License-Identifier: Apache-2.0
// What engines and peers are timed on: rows, a network with its first parameters, and the batches
// of the steps, the same for all and in the same order.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"
#include "result_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Of MNIST's pictures.
inline constexpr std::int64_t image_pixels = 784;
inline constexpr std::int64_t image_classes = 10;

/// Pixels uniform in 0 .. 1 and classes by chance: nothing can be learnt from them, and a step
/// takes as long as on pictures.
[[nodiscard]] mlp::DataSet made_up_images(std::int64_t rows, std::int64_t pixels,
                                          std::int64_t classes, std::uint64_t seed);

/// Rows for this network, each number normal, always the same.
[[nodiscard]] std::vector<float> random_rows(const mlp::Network& network, std::int64_t rows);

struct TrainingJob {
  mlp::Training training;
  std::vector<float> start; ///< parameters
  mlp::DataSet data;        ///< whole batches; step s, from 0, is on batch s modulo their number

  [[nodiscard]] std::int64_t batches() const { return data.rows() / training.batch; }
  [[nodiscard]] std::span<const float> features(std::int64_t step) const;
  [[nodiscard]] std::span<const std::int32_t> labels(std::int64_t step) const;
};

/// On the rows of `data`, as many as are whole batches. The first parameters come from `seed`.
/// Throws InvalidInput where network, batch and data do not fit.
[[nodiscard]] TrainingJob make_job(mlp::Training training, mlp::DataSet data, std::uint64_t seed);

/// "cpu", or "cpu, 2 threads" where a number of threads was asked for.
[[nodiscard]] std::string row_name(const std::string& engine, int threads);

/// The samples of a row, as "mlp/FAMILY/WIDTHS/NAME".
[[nodiscard]] SampleSeries series_of(std::string_view family, const mlp::Network& network,
                                     std::string_view name, const TimedRow& row);

} // namespace diffbench::bench
