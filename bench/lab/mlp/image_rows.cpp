#include "image_rows.hpp"

#include "diffbench/errors.hpp"
#include "options.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>

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

mlp::DataSet image_rows(const std::string& data, const std::string& directory, std::int64_t most,
                        std::uint64_t seed) {
  std::string name = data;
  for (const char* const known : {"mnist", "fashion"}) {
    if (name.empty() && std::filesystem::is_directory(default_data_directory() / known)) {
      name = known;
    }
  }
  if (name.empty() || name == "made-up") {
    return made_up_images(most, image_pixels, image_classes, seed);
  }
  if (name != "mnist" && name != "fashion") {
    throw InvalidInput("--data " + name + ": choose mnist, fashion or made-up");
  }
  MlpOptions options;
  options.data = name;
  options.data_dir = directory;
  mlp::DataSet rows = load_data(options).train;
  const auto kept = static_cast<std::size_t>(std::min(most, rows.rows()));
  rows.labels.resize(kept);
  rows.values.resize(kept * static_cast<std::size_t>(rows.features));
  return rows;
}

std::vector<float> random_rows(const mlp::Network& network, std::int64_t rows) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> features(static_cast<std::size_t>(rows * network.inputs()));
  std::ranges::generate(features, [&] { return normal(generator); });
  return features;
}

} // namespace diffbench::bench
