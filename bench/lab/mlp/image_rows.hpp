// Rows of the size of MNIST's pictures, for the verbs that ask how fast and not how well.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace diffbench::bench {

inline constexpr std::int64_t image_pixels = 784;
inline constexpr std::int64_t image_classes = 10;

/// Pixels uniform in 0 .. 1 and classes by chance: nothing can be learnt from them, and a step
/// takes as long as on pictures.
[[nodiscard]] mlp::DataSet made_up_images(std::int64_t rows, std::int64_t pixels,
                                          std::int64_t classes, std::uint64_t seed);

/// The training rows of `data`, or without one of MNIST, else Fashion-MNIST, where `diffbench
/// get-data` has put them, else made-up ones; the first `most` of them. Throws InvalidInput.
[[nodiscard]] mlp::DataSet image_rows(const std::string& data, const std::string& directory,
                                      std::int64_t most, std::uint64_t seed);

/// Rows for this network, each number normal, always the same.
[[nodiscard]] std::vector<float> random_rows(const mlp::Network& network, std::int64_t rows);

} // namespace diffbench::bench
