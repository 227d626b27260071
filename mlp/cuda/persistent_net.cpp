// SPDX-License-Identifier: Apache-2.0
#include "persistent_net.hpp"

#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <cstddef>

namespace diffbench::mlp::cuda {

namespace {

constexpr std::int64_t up_to(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// At least `count` numbers, `chunk` of which are 16 bytes: an odd number of these.
constexpr std::int64_t odd_pitch(std::int64_t count, std::int64_t chunk) {
  return up_to(count, chunk) / chunk % 2 == 1 ? up_to(count, chunk) : up_to(count, chunk) + chunk;
}

/// Where the optimizer's moments lie, if it has any.
enum class MomentsIn { chip, memory };

class Layout {
 public:
  Layout(const Training& training, std::int64_t bytes, BlockGroups groups)
      : network_(training.network), chunk_(16 / bytes) {
    net_.layers = static_cast<int>(network_.layers());
    net_.row_groups = groups.rows;
    net_.feature_groups = groups.features;
    net_.batch = static_cast<std::int32_t>(training.batch);
    net_.rows = (net_.batch + groups.rows - 1) / groups.rows;
    net_.row_chunks = divisor(static_cast<std::int32_t>(up_to(net_.rows, chunk_) / chunk_));
    net_.pitch = static_cast<std::int32_t>(odd_pitch(net_.rows, chunk_));
    net_.adam = training.optimizer.kind == Optimizer::Kind::adam;
    net_.momentum = net_.adam || training.optimizer.momentum != 0;
    place_levels();
    place_parameters();
    place_small_things();
  }

  /// With the gradients exchanged in so many portions, of which so many have a place.
  [[nodiscard]] PersistentNet with(int portions, int places, MomentsIn moments) {
    PersistentNet net = net_;
    const std::int64_t used = size_;
    net.moments_on_chip = moments == MomentsIn::chip && net.momentum;
    net.moments_at = place(net.moments_on_chip ? (net.adam ? 2 : 1) * net.moments : 0);
    net.portion = (net.own_tiles + portions - 1) / portions;
    const std::int64_t portion = std::int64_t{net.row_groups} * net.portion * tile_numbers();
    net.gradients_at[0] = place(portion);
    net.gradients_at[1] = places == 1 ? net.gradients_at[0] : place(portion);
    // What is clamped is far more than any device has.
    net.shared_size = static_cast<std::int32_t>(std::min<std::int64_t>(size_, INT32_MAX));
    size_ = used;
    return net;
  }

 private:
  std::int32_t place(std::int64_t count) {
    const std::int64_t begin = size_;
    size_ += up_to(count, chunk_);
    return static_cast<std::int32_t>(begin);
  }
  [[nodiscard]] std::int64_t tile_numbers() const { return tile_chunks * chunk_; }

  void place_levels() {
    for (int l = net_.layers; l >= 0; --l) {
      const std::int64_t width = network_.widths()[static_cast<std::size_t>(l)];
      const bool whole = l == 0 || width <= narrow || net_.feature_groups == 1;
      net_.widths[l] = static_cast<std::int32_t>(width);
      net_.own[l] = static_cast<std::int32_t>(
          whole ? width : up_to((width + net_.feature_groups - 1) / net_.feature_groups, 4));
      net_.own_divisor[l] = divisor(net_.own[l]);
      net_.values_at[l] = place(width * net_.pitch);
      net_.deltas_at[l] = l == 0 ? 0 : place(std::int64_t{net_.own[l]} * net_.pitch);
    }
    std::int64_t partials[2] = {};
    int turn = 0;
    for (int l = net_.layers - 1; l > 0; --l) {
      if (net_.divided(l + 1)) {
        partials[turn] =
            std::max(partials[turn], std::int64_t{net_.feature_groups} * net_.own[l] * net_.pitch);
        turn = 1 - turn;
      }
    }
    net_.partials_at[0] = place(partials[0]);
    net_.partials_at[1] = place(partials[1]);
  }

  void place_parameters() {
    for (int l = 0; l < net_.layers; ++l) {
      net_.weights_at[l] = network_.weights_at(l);
      net_.biases_at[l] = network_.biases_at(l);
      net_.weight_pitch[l] = static_cast<std::int32_t>(odd_pitch(net_.widths[l], chunk_));
      net_.rows_at[l] = place(std::int64_t{net_.own[l + 1]} * net_.weight_pitch[l]);
      net_.slice_biases_at[l] = net_.biases;
      net_.biases += net_.own[l + 1];
      const TileShape tile = tile_shape(net_.own[l + 1], static_cast<std::int32_t>(chunk_));
      net_.tiles_at[l + 1] =
          net_.tiles_at[l] + (net_.own[l + 1] + tile.outputs - 1) / tile.outputs *
                                 ((net_.widths[l] + tile.inputs - 1) / tile.inputs);
    }
    net_.own_tiles = (net_.tiles_at[net_.layers] + net_.row_groups - 1) / net_.row_groups;
    net_.all_biases_at = place(net_.biases);
    net_.bias_gradients_at = place(std::int64_t{net_.row_groups} * net_.biases);
    net_.moments =
        static_cast<std::int32_t>(up_to(net_.own_tiles * tile_numbers() + net_.biases, chunk_));
  }

  void place_small_things() {
    const auto numbers_in = [this](std::int64_t bytes) { return (bytes + 15) / 16 * chunk_; };
    net_.memories_at = place(numbers_in(most_blocks * 8));
    net_.table_at = place(numbers_in(std::int64_t{net_.own_tiles} * net_.row_groups *
                                     static_cast<std::int64_t>(sizeof(GradientTile))));
    net_.labels_at = place(numbers_in(net_.rows * 4));
    net_.losses_at = place(numbers_in((persistent_threads / 32 + net_.row_groups) * 8));
  }

  const Network& network_;
  std::int64_t chunk_; ///< numbers in 16 bytes
  std::int64_t size_ = 0;
  PersistentNet net_{};
};

} // namespace

PersistentNet persistent_net(const Training& training, std::int64_t bytes, BlockGroups groups,
                             std::int64_t shared_bytes) {
  Layout layout(training, bytes, groups);
  PersistentNet net = layout.with(1, 1, MomentsIn::chip);
  const auto fits = [&] { return net.shared_size * bytes <= shared_bytes; };
  if (!fits()) {
    net = layout.with(3, 2, MomentsIn::chip); // two would take as much room as one
  }
  for (int portions = 1; !fits() && portions <= net.own_tiles; portions += portions == 1 ? 2 : 1) {
    net = layout.with(portions, portions == 1 ? 1 : 2, MomentsIn::memory);
  }
  if (!fits()) {
    net = layout.with(net.own_tiles, 1, MomentsIn::memory);
  }
  return net;
}

int barriers_of_step(const PersistentNet& net) {
  int barriers = net.portions() + 1 + (net.waits_for_place() ? net.portions() - 1 : 0);
  for (int l = 1; l <= net.layers; ++l) {
    barriers += net.divided(l) ? (l > 1 ? 2 : 1) : 0; // its values, and deltas of the level below
  }
  return net.blocks() == 1 ? 0 : barriers;
}

double predicted_seconds(const PersistentNet& net, std::int64_t bytes) {
  constexpr double flops_a_second = 2e11; // of a multiprocessor at these shapes
  constexpr double bytes_a_second = 25e9; // into one, from others
  constexpr double barrier_seconds = 0.3e-6;
  double flops = 0;
  double numbers = 0;
  const double others = net.feature_groups - 1.0;
  double weights = 0;
  for (int l = 1; l <= net.layers; ++l) {
    flops += 6.0 * net.own[l] * net.widths[l - 1] * net.pitch;
    weights += 1.0 * net.own[l] * net.widths[l - 1];
    if (net.divided(l)) {
      numbers += others * net.own[l] * net.pitch;
      numbers += l > 1 ? others * net.own[l - 1] * net.pitch : 0;
    }
  }
  // A part of the weights of each of the other row groups comes as gradients, and one as weights.
  numbers += 2 * weights * (net.row_groups - 1) / net.row_groups;
  return flops / flops_a_second + numbers * static_cast<double>(bytes) / bytes_a_second +
         barriers_of_step(net) * barrier_seconds;
}

} // namespace diffbench::mlp::cuda
