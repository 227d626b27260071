// SPDX-License-Identifier: Apache-2.0
// What a block of cuda_persistent does in a step (persistent_net.hpp): weights, moments, values and
// gradients stay in shared memory. Who computes something writes it into the memory of those who
// need it, so all products read what lies in their own block.
#pragma once

#include "diffbench/gpu/cluster.cuh"
#include "diffbench/gpu/dynamic_shared.cuh"
#include "persistent_net.hpp"
#include "step_kernels.cuh"
#include "tile_products.cuh"

namespace diffbench::mlp::cuda {

template <typename T>
class PersistentBlock {
 public:
  __device__ PersistentBlock(const PersistentNet& net, const PersistentWork<T>& work)
      : net_(net),
        work_(work),
        rank_(net.blocks() == 1 ? 0 : gpu::cluster_rank()),
        row_group_(rank_ / net.feature_groups),
        feature_group_(rank_ % net.feature_groups),
        shared_(static_cast<T*>(gpu::dynamic_shared())) {}

  /// Parameters and moments into shared memory, the rest of which is 0: so are the rows that a
  /// batch has not, and what is read beyond an end.
  __device__ void load() {
    for (std::int32_t i = thread(); i < net_.shared_size; i += size()) {
      shared_[i] = T(0);
    }
    __syncthreads();
    for (std::int32_t i = thread(); i < net_.own_tiles * net_.row_groups; i += size()) {
      table()[i] = tile_at(i);
    }
    if (thread() < net_.blocks()) {
      memories()[thread()] = gpu::shared_of(shared_, thread());
    }
    __syncthreads();
    each_parameter([&](std::int32_t at, std::int64_t parameter, int) {
      shared_[at] = work_.parameters[parameter];
    });
    each_moment([&](std::int32_t i, std::int64_t parameter, int) {
      moments().first[i] = work_.moments.first[parameter];
      if (net_.adam) {
        moments().second[i] = work_.moments.second[parameter];
      }
    });
  }

  /// And back. What several blocks have alike, the first of them stores.
  __device__ void store() {
    if (row_group_ == 0) {
      each_parameter([&](std::int32_t at, std::int64_t parameter, int level) {
        if (is_first_with(level)) {
          work_.parameters[parameter] = shared_[at];
        }
      });
    }
    each_moment([&](std::int32_t i, std::int64_t parameter, int level) {
      if (!is_first_with(level) || (row_group_ != 0 && i >= bias_moment(0))) {
        return;
      }
      work_.moments.first[parameter] = moments().first[i];
      if (net_.adam) {
        work_.moments.second[parameter] = moments().second[i];
      }
    });
  }

  /// The own rows of the batch that begins at `begin`: features and labels. Missing rows become 0.
  __device__ void gather(std::int64_t begin) {
    const std::int32_t rows = own_rows(begin);
    const std::int64_t first = begin + std::int64_t{row_group_} * net_.rows;
    const std::int32_t inputs = net_.widths[0];
    for (std::int32_t i = thread(); i < net_.rows * inputs; i += size()) {
      const std::int32_t row = i / inputs;
      const std::int32_t input = i % inputs;
      values(0)[input * net_.pitch + row] =
          row < rows ? work_.rows.features[row_at(first + row) * inputs + input] : T(0);
    }
    for (std::int32_t row = thread(); row < rows && work_.rows.labels != nullptr; row += size()) {
      labels()[row] = work_.rows.labels[row_at(first + row)];
    }
  }

  /// Rows of the batch that begins at `begin`.
  __device__ std::int32_t rows_from(std::int64_t begin) const {
    const std::int64_t left = work_.count - begin;
    return left < net_.batch ? static_cast<std::int32_t>(left) : net_.batch;
  }

  /// The own outputs of a layer, to all who need them. Ends with a barrier.
  __device__ void forward(int layer) {
    const int level = layer + 1;
    const bool relu = level < net_.layers;
    const std::int32_t first = first_own(level);
    const T* const biases = slice_biases(layer);
    const TileProduct<T> product = {own_count(level), net_.widths[layer],       net_.row_chunks,
                                    weights(layer),   net_.weight_pitch[layer], values(layer),
                                    net_.pitch};
    const auto give = [&](std::int32_t output, std::int32_t row, Chunk<T> sums) {
#pragma unroll
      for (int j = 0; j < Chunk<T>::size; ++j) {
        const T sum = sums.v[j] + biases[output];
        sums.v[j] = relu && sum < T(0) ? T(0) : sum; // a NaN stays one, as in PyTorch
      }
      T* const to = values(level) + (first + output) * net_.pitch + row;
      if (net_.divided(level)) {
        to_row_group(to, sums);
      } else {
        store_chunk(to, sums);
      }
    };
    multiply<LeftByRows>(product, give);
    barrier_if(net_.divided(level));
  }

  /// The gradient of the own outputs, and the loss of the own rows to block 0. Ends with a barrier
  /// of the block.
  __device__ void softmax_loss(std::int64_t begin, std::int32_t batch_rows) {
    const T* const outputs = values(net_.layers);
    const std::int32_t classes = net_.widths[net_.layers];
    const std::int32_t first = first_own(net_.layers);
    const std::int32_t own = own_count(net_.layers);
    T* const delta = deltas(net_.layers);
    const std::int32_t rows = own_rows(begin);
    const T share = T(1) / static_cast<T>(batch_rows);
    double loss = 0;
    for (std::int32_t row = thread(); row < net_.rows; row += size()) {
      if (row >= rows) {
        for (std::int32_t c = 0; c < own; ++c) {
          delta[c * net_.pitch + row] = T(0);
        }
        continue;
      }
      T largest = outputs[row];
      for (std::int32_t c = 1; c < classes; ++c) {
        const T output = outputs[c * net_.pitch + row];
        largest = output > largest ? output : largest;
      }
      T sum = T(0);
      for (std::int32_t c = 0; c < classes; ++c) {
        sum += exp(outputs[c * net_.pitch + row] - largest);
      }
      const std::int32_t label = labels()[row];
      for (std::int32_t c = 0; c < own; ++c) {
        const T probability =
            exp(outputs[(first + c) * net_.pitch + row] - largest) * (share / sum);
        delta[c * net_.pitch + row] = first + c == label ? probability - share : probability;
      }
      loss += static_cast<double>(log(sum) - (outputs[label * net_.pitch + row] - largest));
    }
    loss = warp_sum(loss);
    if (thread() % 32 == 0) {
      losses()[thread() / 32] = loss;
    }
    __syncthreads();
    if (thread() < 32 && feature_group_ == 0) {
      loss = warp_sum(thread() < size() / 32 ? losses()[thread()] : 0.0);
      if (thread() == 0) {
        *shared_of(group_losses() + row_group_, 0) = loss;
      }
    }
  }

  /// The gradient of the own inputs of a layer, before their ReLU. Ends with a barrier. `turn`
  /// takes turns between calls that divide the sums; while they wait for each other's, the
  /// gradients of the layer's weights are made.
  __device__ void input_gradient(int layer, int& turn) {
    if (!net_.divided(layer + 1)) {
      multiply<LeftByColumns, T>({own_count(layer), net_.widths[layer + 1], net_.row_chunks,
                                  weights(layer) + first_own(layer), net_.weight_pitch[layer],
                                  deltas(layer + 1), net_.pitch},
                                 [&](std::int32_t input, std::int32_t row, const Chunk<T>& sums) {
                                   finish_delta(layer, input, row, sums);
                                 });
      __syncthreads();
      return;
    }
    // From the own outputs: a part of the sums, to those who have the inputs.
    T* const partials = shared_ + net_.partials_at[turn];
    turn = 1 - turn;
    const std::int32_t own = net_.own[layer];
    multiply<LeftByColumns, T>(
        {net_.widths[layer], own_count(layer + 1), net_.row_chunks, weights(layer),
         net_.weight_pitch[layer], deltas(layer + 1), net_.pitch},
        [&](std::int32_t input, std::int32_t row, const Chunk<T>& sums) {
          const std::int32_t owner = net_.own_divisor[layer].quotient(input);
          const std::int32_t in_own = input - owner * own; // not divided: owner 0, all
          T* const to = partials + (feature_group_ * own + in_own) * net_.pitch + row;
          if (net_.divided(layer)) {
            store_chunk(shared_of(to, row_group_ * net_.feature_groups + owner), sums);
          } else {
            to_row_group(to, sums);
          }
        });
    gpu::cluster_arrive();
    if (gradients_early(layer)) {
      weight_gradients(net_.tiles_at[layer], net_.tiles_at[layer + 1], 0);
    }
    gpu::cluster_wait();
    for (std::int32_t i = thread(); i < own_count(layer) * net_.row_chunks.number; i += size()) {
      const std::int32_t input = net_.row_chunks.quotient(i);
      const std::int32_t row = (i - input * net_.row_chunks.number) * Chunk<T>::size;
      const T* const from = partials + input * net_.pitch + row;
      finish_delta(layer, input, row, sum_of(from, own * net_.pitch, net_.feature_groups));
    }
    __syncthreads();
  }

  /// The gradients of a portion of the own weights, from the own rows, to those who sum them up;
  /// with the first portion those of the biases. Needs a barrier after it.
  __device__ void gradients(int portion) {
    if (net_.portions() == 1) {
      for (int layer = 0; layer < net_.layers; ++layer) {
        if (!gradients_early(layer)) {
          weight_gradients(net_.tiles_at[layer], net_.tiles_at[layer + 1], 0);
        }
      }
    } else {
      const std::int32_t tiles = net_.portion * net_.row_groups;
      const std::int32_t end = (portion + 1) * tiles;
      weight_gradients(portion * tiles,
                       end < net_.tiles_at[net_.layers] ? end : net_.tiles_at[net_.layers],
                       portion);
    }
    for (std::int32_t i = thread(); portion == 0 && i < net_.biases; i += size()) {
      const int layer = layer_of(i, net_.slice_biases_at);
      const T* const delta = deltas(layer + 1) + (i - net_.slice_biases_at[layer]) * net_.pitch;
      T sum = T(0);
      for (std::int32_t row = 0; row < net_.rows; row += Chunk<T>::size) {
        const Chunk<T> chunk = chunk_at(delta + row);
#pragma unroll
        for (int j = 0; j < Chunk<T>::size; ++j) {
          sum += chunk.v[j];
        }
      }
      T* const to = shared_ + net_.bias_gradients_at + row_group_ * net_.biases + i;
      for (int group = 0; group < net_.row_groups; ++group) {
        *shared_of(to, group * net_.feature_groups + feature_group_) = sum;
      }
    }
  }

  /// Sums up and updates the own tiles of a portion, and gives the weights to the feature group;
  /// with the first portion all own biases, and block 0 counts the loss.
  __device__ void update(int portion, const StepFactors<T>& factors) {
    const std::int32_t first_tile = portion * net_.portion;
    const T* const gradients = shared_ + net_.gradients_at[portion % 2];
    for (std::int32_t i = thread(); i < net_.portion * tile_chunks; i += size()) {
      const std::int32_t own_tile = first_tile + i / tile_chunks;
      if (own_tile < net_.own_tiles) {
        update_chunk(own_tile, i % tile_chunks,
                     sum_of(gradients + i * Chunk<T>::size,
                            net_.portion * tile_chunks * Chunk<T>::size, net_.row_groups),
                     factors);
      }
    }
    for (std::int32_t i = thread(); portion == 0 && i < net_.biases; i += size()) {
      T sum = T(0);
      for (int group = 0; group < net_.row_groups; ++group) {
        sum += shared_[net_.bias_gradients_at + group * net_.biases + i];
      }
      T& bias = shared_[net_.all_biases_at + i];
      bias = updated(factors, bias, sum, moments(), bias_moment(i));
    }
    if (portion == 0 && rank_ == 0 && thread() == 0) {
      double loss = 0;
      for (int group = 0; group < net_.row_groups; ++group) {
        loss += group_losses()[group];
      }
      add_loss(loss, work_.state->losses);
    }
  }

  /// Waits until all weights have arrived, and meanwhile gathers the next batch, which begins at
  /// `next`.
  __device__ void end_step(std::int64_t next) {
    if (net_.blocks() > 1) {
      gpu::cluster_arrive();
    }
    if (next < work_.count) {
      gather(next);
    }
    if (net_.blocks() > 1) {
      gpu::cluster_wait();
    }
    __syncthreads();
  }

  /// The outputs of the own rows, to global memory.
  __device__ void give_outputs() {
    const std::int32_t classes = net_.widths[net_.layers];
    const std::int64_t first = std::int64_t{row_group_} * net_.rows;
    for (std::int32_t i = thread(); feature_group_ == 0 && i < own_rows(0) * classes; i += size()) {
      work_.outputs[first * classes + i] =
          values(net_.layers)[i % classes * net_.pitch + i / classes];
    }
  }

  /// Of all blocks.
  __device__ void barrier() { barrier_if(true); }

 private:
  /// Of a lane of a tile: the first of its four outputs, and its first input. The others lie
  /// tile.lanes apart.
  __device__ static std::int32_t lane_output(const GradientTile& tile, std::int32_t lane) {
    return tile.lanes == 8 ? lane / 8 * 4 : 0;
  }
  __device__ static std::int32_t lane_input(const GradientTile& tile, std::int32_t lane) {
    return lane & (tile.lanes - 1);
  }

  __device__ static std::int32_t thread() { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ static std::int32_t size() { return static_cast<std::int32_t>(blockDim.x); }

  __device__ void barrier_if(bool of_cluster) {
    if (of_cluster && net_.blocks() > 1) {
      gpu::cluster_barrier();
    } else {
      __syncthreads();
    }
  }

  /// Where block `rank` has what lies at `own` here. The blocks' memories are looked up: to ask the
  /// hardware each time takes longer.
  template <typename U>
  __device__ U* shared_of(U* own, int rank) const {
    const auto offset = reinterpret_cast<char*>(own) - reinterpret_cast<char*>(shared_);
    return reinterpret_cast<U*>(reinterpret_cast<char*>(memories()[rank]) + offset);
  }
  __device__ T** memories() const { return reinterpret_cast<T**>(shared_ + net_.memories_at); }
  __device__ void to_row_group(T* own, const Chunk<T>& chunk) const {
    for (int group = 0; group < net_.feature_groups; ++group) {
      store_chunk(shared_of(own, row_group_ * net_.feature_groups + group), chunk);
    }
  }

  /// Of a level: where the own features begin, and how many there are.
  __device__ std::int32_t first_own(int level) const {
    return net_.divided(level) ? feature_group_ * net_.own[level] : 0;
  }
  __device__ std::int32_t own_count(int level) const {
    const std::int32_t left = net_.widths[level] - first_own(level);
    return left < net_.own[level] ? (left > 0 ? left : 0) : net_.own[level];
  }
  /// Rows that this block has of the batch that begins at `begin`.
  __device__ std::int32_t own_rows(std::int64_t begin) const {
    const std::int32_t left = rows_from(begin) - row_group_ * net_.rows;
    return left < net_.rows ? (left > 0 ? left : 0) : net_.rows;
  }
  __device__ std::int64_t row_at(std::int64_t position) const {
    return work_.rows.order == nullptr ? position : work_.rows.order[position];
  }

  __device__ T* values(int level) const { return shared_ + net_.values_at[level]; }
  __device__ T* deltas(int level) const { return shared_ + net_.deltas_at[level]; }
  __device__ T* weights(int layer) const { return shared_ + net_.rows_at[layer]; }
  __device__ T* slice_biases(int layer) const {
    return shared_ + net_.all_biases_at + net_.slice_biases_at[layer];
  }
  __device__ std::int32_t* labels() const {
    return reinterpret_cast<std::int32_t*>(shared_ + net_.labels_at);
  }
  __device__ double* losses() const { return reinterpret_cast<double*>(shared_ + net_.losses_at); }
  __device__ double* group_losses() const { return losses() + persistent_threads / 32; }
  /// The own ones; null: none.
  __device__ Moments<T> moments() const {
    if (!net_.momentum) {
      return {nullptr, nullptr};
    }
    T* const first = net_.moments_on_chip ? shared_ + net_.moments_at
                                          : work_.block_moments + 2 * rank_ * net_.moments;
    return {first, net_.adam ? first + net_.moments : nullptr};
  }
  __device__ std::int32_t bias_moment(std::int32_t bias) const {
    return net_.own_tiles * tile_chunks * Chunk<T>::size + bias;
  }

  /// The last layer whose things begin at or before `i`.
  __device__ int layer_of(std::int32_t i, const std::int32_t* begins) const {
    int layer = 0;
    while (layer + 1 < net_.layers && begins[layer + 1] <= i) {
      ++layer;
    }
    return layer;
  }

  /// Are a layer's gradients made while the block waits for the deltas of its inputs? Those of
  /// layers with a tile for every warp; the others are made together.
  __device__ bool gradients_early(int layer) const {
    return layer > 0 && net_.divided(layer + 1) && net_.portions() == 1 &&
           net_.tiles_at[layer + 1] - net_.tiles_at[layer] >= size() / 32;
  }
  /// Of tiles [first, end). Each has its warp, so that layers of few tiles do not all take the
  /// first.
  __device__ void weight_gradients(std::int32_t first, std::int32_t end, int portion) {
    const std::int32_t warps = size() / 32;
    const std::int32_t ahead = (thread() / 32 - first) & (warps - 1);
    for (std::int32_t tile = first + ahead; tile < end; tile += warps) {
      weight_gradient(tile, portion);
    }
  }

  __device__ GradientTile* table() const {
    return reinterpret_cast<GradientTile*>(shared_ + net_.table_at);
  }
  /// What the table says of a tile.
  __device__ GradientTile tile_at(std::int32_t tile) const {
    if (tile >= net_.tiles_at[net_.layers]) {
      return {};
    }
    const int layer = layer_of(tile, net_.tiles_at);
    const TileShape shape = tile_shape(net_.own[layer + 1], Chunk<T>::size);
    const std::int32_t across = (net_.widths[layer] + shape.inputs - 1) / shape.inputs;
    const std::int32_t in_layer = tile - net_.tiles_at[layer];
    const std::int32_t output = in_layer / across * shape.outputs;
    const std::int32_t input = in_layer % across * shape.inputs;
    const auto within = [](std::int32_t left, std::int32_t most) {
      return static_cast<std::uint8_t>(left < 0 ? 0 : left < most ? left : most);
    };
    return {.deltas_at = net_.deltas_at[layer + 1] + output * net_.pitch,
            .values_at = net_.values_at[layer] + input * net_.pitch,
            .weights_at = net_.rows_at[layer] + output * net_.weight_pitch[layer] + input,
            .outputs = within(own_count(layer + 1) - output, shape.outputs),
            .inputs = within(net_.widths[layer] - input, shape.inputs),
            .lanes = static_cast<std::uint8_t>(shape.lanes),
            .layer = static_cast<std::uint8_t>(layer)};
  }

  /// A tile of the gradient of a layer's weights, by a warp. Inputs of a lane lie apart, so that
  /// eight lanes read rows of eight neighbouring inputs.
  __device__ void weight_gradient(std::int32_t number, int portion) {
    constexpr int inputs = Chunk<T>::size;
    const std::int32_t lane = thread() % 32;
    const GradientTile tile = table()[number];
    if (tile.outputs == 0) {
      return;
    }
    const auto at_most = [](std::int32_t i, std::int32_t last) { return i < last ? i : last; };
    const T* delta[4];
    const T* in[inputs];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      delta[i] = shared_ + tile.deltas_at +
                 at_most(lane_output(tile, lane) + i, tile.outputs - 1) * net_.pitch;
    }
#pragma unroll
    for (int j = 0; j < inputs; ++j) {
      in[j] = shared_ + tile.values_at +
              at_most(lane_input(tile, lane) + tile.lanes * j, tile.inputs - 1) * net_.pitch;
    }
    Chunk<T> sums[4] = {};
#pragma unroll 2
    for (std::int32_t row = 0; row < net_.rows; row += Chunk<T>::size) {
      Chunk<T> d[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        d[i] = chunk_at(delta[i] + row);
      }
#pragma unroll
      for (int j = 0; j < inputs; ++j) {
        const Chunk<T> x = chunk_at(in[j] + row);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int r = 0; r < Chunk<T>::size; ++r) {
            sums[i].v[j] = fma(d[i].v[r], x.v[r], sums[i].v[j]);
          }
        }
      }
    }
    const std::int32_t tile_of_owner = number / net_.row_groups;
    const std::int32_t owner = number - tile_of_owner * net_.row_groups;
    const std::int32_t own_tile = tile_of_owner - portion * net_.portion;
    T* const to =
        shared_of(shared_ + net_.gradients_at[portion % 2] +
                      ((row_group_ * net_.portion + own_tile) * tile_chunks + lane) * inputs,
                  owner * net_.feature_groups + feature_group_);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      store_chunk(to + i * 32 * inputs, sums[i]);
    }
  }

  /// One of the chunks of one of the own tiles: the weights of an output.
  __device__ void update_chunk(std::int32_t own_tile, std::int32_t chunk, const Chunk<T>& gradient,
                               const StepFactors<T>& factors) {
    const GradientTile tile = table()[own_tile * net_.row_groups + row_group_];
    const std::int32_t output = lane_output(tile, chunk % 32) + chunk / 32;
    const std::int32_t input = lane_input(tile, chunk % 32);
    if (output >= tile.outputs) {
      return;
    }
    T* const weight = shared_ + tile.weights_at + output * net_.weight_pitch[tile.layer] + input;
    const std::int32_t moment = (own_tile * tile_chunks + chunk) * Chunk<T>::size;
    const auto inside = [&](int j) { return input + tile.lanes * j < tile.inputs; };
    Chunk<T> next;
#pragma unroll
    for (int j = 0; j < Chunk<T>::size; ++j) {
      if (inside(j)) {
        next.v[j] = updated(factors, weight[tile.lanes * j], gradient.v[j], moments(), moment + j);
      }
    }
    for (int group = 0; group < net_.row_groups; ++group) {
      T* const to = shared_of(weight, group * net_.feature_groups + feature_group_);
#pragma unroll
      for (int j = 0; j < Chunk<T>::size; ++j) {
        if (inside(j)) {
          to[tile.lanes * j] = next.v[j];
        }
      }
    }
  }

  __device__ void finish_delta(int level, std::int32_t feature, std::int32_t row,
                               Chunk<T> sums) const {
    const Chunk<T> in = chunk_at(values(level) + (first_own(level) + feature) * net_.pitch + row);
#pragma unroll
    for (int j = 0; j < Chunk<T>::size; ++j) {
      sums.v[j] = in.v[j] > T(0) ? sums.v[j] : T(0);
    }
    store_chunk(deltas(level) + feature * net_.pitch + row, sums);
  }

  /// Always in the same order.
  __device__ static Chunk<T> sum_of(const T* from, std::int32_t pitch, int count) {
    Chunk<T> sum = chunk_at(from);
    for (int i = 1; i < count; ++i) {
      const Chunk<T> next = chunk_at(from + i * pitch);
#pragma unroll
      for (int j = 0; j < Chunk<T>::size; ++j) {
        sum.v[j] += next.v[j];
      }
    }
    return sum;
  }

  __device__ static double warp_sum(double value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(0xffffffffu, value, distance);
    }
    return value;
  }

  /// Of a row group's blocks, which all have what belongs to a level that is not divided.
  __device__ bool is_first_with(int level) const {
    return feature_group_ == 0 || net_.divided(level);
  }

  /// visit(where in shared memory, which parameter, of which level) for the weights and biases of
  /// the own outputs.
  template <typename Visit>
  __device__ void each_parameter(Visit visit) const {
    for (int l = 0; l < net_.layers; ++l) {
      const std::int32_t inputs = net_.widths[l];
      const std::int32_t first = first_own(l + 1);
      for (std::int32_t i = thread(); i < own_count(l + 1) * inputs; i += size()) {
        visit(net_.rows_at[l] + i / inputs * net_.weight_pitch[l] + i % inputs,
              net_.weights_at[l] + std::int64_t{first} * inputs + i, l + 1);
      }
      for (std::int32_t i = thread(); i < own_count(l + 1); i += size()) {
        visit(net_.all_biases_at + net_.slice_biases_at[l] + i, net_.biases_at[l] + first + i,
              l + 1);
      }
    }
  }

  /// visit(which of the own moments, which parameter, of which level).
  template <typename Visit>
  __device__ void each_moment(Visit visit) const {
    for (std::int32_t i = thread(); net_.momentum && i < net_.own_tiles * tile_chunks;
         i += size()) {
      const GradientTile tile = table()[i / tile_chunks * net_.row_groups + row_group_];
      const std::int32_t in_tile = lane_output(tile, i % 32) + i % tile_chunks / 32;
      for (int j = 0; in_tile < tile.outputs && j < Chunk<T>::size; ++j) {
        const std::int32_t in = lane_input(tile, i % 32) + tile.lanes * j;
        if (in < tile.inputs) {
          const std::int64_t output =
              first_own(tile.layer + 1) +
              (tile.deltas_at - net_.deltas_at[tile.layer + 1]) / net_.pitch + in_tile;
          const std::int64_t input =
              (tile.values_at - net_.values_at[tile.layer]) / net_.pitch + in;
          visit(i * Chunk<T>::size + j,
                net_.weights_at[tile.layer] + output * net_.widths[tile.layer] + input,
                tile.layer + 1);
        }
      }
    }
    for (std::int32_t i = thread(); net_.momentum && i < net_.biases; i += size()) {
      const int layer = layer_of(i, net_.slice_biases_at);
      const std::int32_t bias = i - net_.slice_biases_at[layer];
      if (bias < own_count(layer + 1)) {
        visit(bias_moment(i), net_.biases_at[layer] + first_own(layer + 1) + bias, layer + 1);
      }
    }
  }

  const PersistentNet& net_;
  const PersistentWork<T>& work_;
  int rank_;
  int row_group_;
  int feature_group_;
  T* shared_;
};

} // namespace diffbench::mlp::cuda
