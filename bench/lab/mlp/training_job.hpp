// What engines and peers are raced on: a network, its first parameters, and the batches of the
// steps, the same for all and in the same order.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

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

/// "mlp/FAMILY/WIDTHS/ROW", the name of a series of samples.
[[nodiscard]] std::string series_name(std::string_view family, const mlp::Network& network,
                                      std::string_view row);

} // namespace diffbench::bench
