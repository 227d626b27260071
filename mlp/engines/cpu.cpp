// SPDX-License-Identifier: Apache-2.0
// The tuned engine: everything of a step in a handful of fused products (layer/layer_kernel.hpp),
// no allocation, threads only where they pay.
//
// A layer's biases are one more column of its weights, met by an input that is always 1, so no code
// knows of them. Values of a batch lie twice in memory: by feature, [feature][row of the batch],
// where a vector holds many rows of the batch (forward, gradient of the inputs), and by row,
// [row][feature], where it holds many inputs (gradient of the weights, which goes through the
// optimizer at once and is never stored). Everything is padded to whole vectors; the padding of the
// weights has the gradient 0 and stays 0.
#include "diffbench/aligned_memory.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/workers.hpp"
#include "layer/layer_kernel.hpp"
#include "loss_counter.hpp"
#include "optimizer_step.hpp"
#include "step_timer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace diffbench::mlp {

namespace {

/// Work of a step from which another thread pays: its share takes longer than the barriers cost.
constexpr double flops_for_a_thread = 2e6;

std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

template <typename T>
const LayerKernels<T>& kernels_for([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  const KernelSet& set = isa == Isa::avx512 ? avx512_kernels()
                         : isa == Isa::avx2 ? avx2_kernels()
                                            : baseline_kernels();
#else
  const KernelSet& set = baseline_kernels();
#endif
  if constexpr (sizeof(T) == sizeof(float)) {
    return set.float32;
  } else {
    return set.float64;
  }
}

template <typename T>
struct Layer {
  std::int64_t inputs, outputs;
  std::int64_t stride;           ///< of a row of weights: inputs, 1 for the bias, padding
  AlignedArray<T> weights;       ///< [outputs][stride]
  AlignedArray<T> first, second; ///< the optimizer's moments, as the weights
  AlignedArray<T> by_feature;    ///< inputs of the layer: [inputs + 1][batch]; the last row is 1
  AlignedArray<T> by_row;        ///< the same: [batch][stride]
  AlignedArray<T> delta;         ///< gradient of the outputs: [outputs][batch]
};

template <typename T>
class CpuEngine final : public Engine<T> {
 public:
  CpuEngine(const Training& training, const SessionOptions& options)
      : network_(training.network),
        optimizer_(training.optimizer),
        isa_(options.isa.value_or(best_isa())),
        kernels_(kernels_for<T>(isa_)),
        capacity_(round_up(training.batch, kernels_.lanes)),
        team_(threads_for(training, options)),
        timer_(training) {
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      layers_.push_back(make_layer(l));
    }
    outputs_ = AlignedArray<T>(network_.classes() * capacity_);
  }

  void set_parameters(std::span<const T> parameters) override {
    each_parameter([&](T& stored, std::int64_t i) { stored = parameters[size(i)]; });
    for (Layer<T>& layer : layers_) {
      layer.first.fill(0);
      layer.second.fill(0);
    }
    steps_ = 0;
  }
  void get_parameters(std::span<T> parameters) override {
    each_parameter([&](const T& stored, std::int64_t i) { parameters[size(i)] = stored; });
  }

  void step(std::span<const T> features, std::span<const std::int32_t> labels) override {
    timer_.start();
    rows_ = static_cast<std::int64_t>(labels.size());
    factors_ = step_factors<T>(optimizer_, ++steps_);
    take_rows(features);
    run_team([&](int thread) {
      forward_layers(thread);
      if (thread == 0) {
        losses_.add(softmax_gradient(labels));
        timer_.charge(&StepTimes::forward);
      }
      barrier(thread, &StepTimes::forward);
      backward_layers(thread);
      if (thread == 0) {
        timer_.charge(&StepTimes::backward);
      }
    });
  }

  Losses wait() override { return losses_.take(); }

  void forward(std::span<const T> features, std::span<T> outputs) override {
    timer_.start();
    const std::int64_t all = static_cast<std::int64_t>(features.size()) / network_.inputs();
    for (std::int64_t row = 0; row < all; row += capacity_) {
      rows_ = std::min(all - row, capacity_);
      T* const to = outputs.data() + row * network_.classes();
      const auto part =
          features.subspan(size(row * network_.inputs()), size(rows_ * network_.inputs()));
      if (rows_ < kernels_.lanes / 2) {
        forward_one_by_one(part, to);
        continue;
      }
      take_rows(part);
      run_team([&](int thread) { forward_layers(thread); });
      for (std::int64_t r = 0; r < rows_; ++r) {
        for (std::int64_t c = 0; c < network_.classes(); ++c) {
          to[r * network_.classes() + c] = outputs_[c * capacity_ + r];
        }
      }
    }
    timer_.charge(&StepTimes::forward);
  }

  std::optional<EngineTimes> take_times() override { return timer_.take(); }

  [[nodiscard]] Provenance provenance() const override {
    return {.threads = team_.count(), .isa = isa_};
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  static int threads_for(const Training& training, const SessionOptions& options) {
    if (options.threads != 0) {
      return options.threads;
    }
    const double worth = training.network.flops_per_step(training.batch) / flops_for_a_thread;
    return static_cast<int>(std::clamp<double>(worth, 1, usable_cpus()));
  }

  [[nodiscard]] Layer<T> make_layer(std::int64_t l) const {
    const std::int64_t inputs = network_.inputs(l);
    const std::int64_t outputs = network_.outputs(l);
    const std::int64_t stride = round_up(inputs + 1, kernels_.lanes);
    const bool adam = optimizer_.kind == Optimizer::Kind::adam;
    const bool first = adam || optimizer_.momentum != 0;
    Layer<T> layer{.inputs = inputs,
                   .outputs = outputs,
                   .stride = stride,
                   .weights = AlignedArray<T>(outputs * stride),
                   .first = AlignedArray<T>(first ? outputs * stride : 0),
                   .second = AlignedArray<T>(adam ? outputs * stride : 0),
                   // Whole squares of lanes x lanes are transposed.
                   .by_feature = AlignedArray<T>(stride * capacity_),
                   .by_row = AlignedArray<T>(capacity_ * stride),
                   .delta = AlignedArray<T>(outputs * capacity_)};
    for (std::int64_t row = 0; row < capacity_; ++row) {
      layer.by_feature[inputs * capacity_ + row] = 1;
      layer.by_row[row * stride + inputs] = 1;
    }
    return layer;
  }

  /// visit(stored parameter, its index in the array of all).
  template <typename Visit>
  void each_parameter(Visit visit) {
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      Layer<T>& layer = layers_[size(l)];
      for (std::int64_t o = 0; o < layer.outputs; ++o) {
        for (std::int64_t i = 0; i < layer.inputs; ++i) {
          visit(layer.weights[o * layer.stride + i], network_.weights_at(l) + o * layer.inputs + i);
        }
        visit(layer.weights[o * layer.stride + layer.inputs], network_.biases_at(l) + o);
      }
    }
  }

  template <typename Job>
  void run_team(Job job) {
    if (team_.count() == 1) {
      job(0);
    } else {
      team_.run(job); // ends with a barrier
      timer_.charge(&StepTimes::sync);
    }
  }
  /// `part` is what comes before. The account is that of thread 0, which is the caller.
  void barrier(int thread, double StepTimes::*part) {
    if (team_.count() > 1) {
      if (thread == 0) {
        timer_.charge(part);
      }
      team_.barrier();
      if (thread == 0) {
        timer_.charge(&StepTimes::sync);
      }
    }
  }

  /// The share of `count` rows that a thread has, in whole `unit`s.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> share(int thread, std::int64_t count,
                                                            std::int64_t unit) const {
    const std::int64_t units = (count + unit - 1) / unit;
    const auto edge = [&](std::int64_t t) {
      return std::min(count, units * t / team_.count() * unit);
    };
    return {edge(thread), edge(thread + 1)};
  }

  /// The batch, as the inputs of the first layer; rows beyond it are left as they are, since no sum
  /// over the batch reaches them.
  void take_rows(std::span<const T> features) {
    Layer<T>& layer = layers_.front();
    for (std::int64_t row = 0; row < rows_; ++row) {
      const T* const from = features.data() + row * layer.inputs;
      std::copy(from, from + layer.inputs, layer.by_row.data() + row * layer.stride);
    }
    transpose(layer.by_row.data(), layer.stride, layer.by_feature.data(), capacity_,
              round_up(rows_, kernels_.lanes), layer.stride);
    timer_.charge(&StepTimes::data);
  }

  /// to[c][r] = from[r][c] for whole squares.
  void transpose(const T* from, std::int64_t from_row, T* to, std::int64_t to_row,
                 std::int64_t rows, std::int64_t columns) const {
    for (std::int64_t r = 0; r < rows; r += kernels_.lanes) {
      for (std::int64_t c = 0; c < columns; c += kernels_.lanes) {
        kernels_.transpose(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
      }
    }
  }

  /// Product of a layer with its inputs, for its outputs [begin, end).
  [[nodiscard]] Product<T> forward_product(Layer<T>& layer, T* out, std::int64_t begin,
                                           std::int64_t end) const {
    return {.left = layer.weights.data() + begin * layer.stride,
            .left_row = layer.stride,
            .left_depth = 1,
            .right = layer.by_feature.data(),
            .right_depth = capacity_,
            .out = out + begin * capacity_,
            .out_row = capacity_,
            .rows = end - begin,
            .depth = layer.inputs + 1,
            .vectors = vectors()};
  }

  [[nodiscard]] std::int64_t vectors() const {
    return (rows_ + kernels_.lanes - 1) / kernels_.lanes;
  }

  void forward_layers(int thread) {
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      Layer<T>& layer = layers_[size(l)];
      const auto [begin, end] = share(thread, layer.outputs, kernels_.lanes);
      if (l + 1 == network_.layers()) {
        kernels_.forward(forward_product(layer, outputs_.data(), begin, end), Activation::none);
      } else {
        Layer<T>& next = layers_[size(l + 1)];
        kernels_.forward(forward_product(layer, next.by_feature.data(), begin, end),
                         Activation::relu);
        if (begin < end) {
          // The last square also holds the row of ones and the padding, which stay what they are.
          const std::int64_t padded_end = end == layer.outputs ? next.stride : end;
          transpose(next.by_feature.data() + begin * capacity_, capacity_,
                    next.by_row.data() + begin, next.stride, padded_end - begin,
                    round_up(rows_, kernels_.lanes));
        }
      }
      barrier(thread, &StepTimes::forward);
    }
  }

  /// Makes the gradient of the outputs; returns the sum of the rows' losses.
  double softmax_gradient(std::span<const std::int32_t> labels) {
    const std::int64_t classes = network_.classes();
    T* const delta = layers_.back().delta.data();
    const T share = 1 / static_cast<T>(rows_);
    double loss = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const T* const output = outputs_.data() + row;
      T largest = output[0];
      for (std::int64_t c = 1; c < classes; ++c) {
        largest = std::max(largest, output[c * capacity_]);
      }
      T sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) {
        const T power = std::exp(output[c * capacity_] - largest);
        delta[c * capacity_ + row] = power;
        sum += power;
      }
      const T scale = share / sum;
      for (std::int64_t c = 0; c < classes; ++c) {
        delta[c * capacity_ + row] *= scale;
      }
      const std::int64_t label = labels[size(row)];
      delta[label * capacity_ + row] -= share;
      loss += static_cast<double>(std::log(sum) - (output[label * capacity_] - largest));
    }
    return loss;
  }

  /// The gradient of a layer's inputs needs its weights from before the step, and that of the layer
  /// below is needed for its own: so one layer's update and the next lower one's gradient share a
  /// stretch between barriers.
  void backward_layers(int thread) {
    for (std::int64_t l = network_.layers() - 1; l >= 0; --l) {
      if (l > 0) {
        input_gradient(thread, layers_[size(l)], layers_[size(l - 1)].delta.data());
        barrier(thread, &StepTimes::backward);
      }
      update(thread, layers_[size(l)]);
    }
  }

  void input_gradient(int thread, Layer<T>& layer, T* below) {
    const auto [begin, end] = share(thread, layer.inputs, kernels_.lanes);
    kernels_.backward({.left = layer.weights.data() + begin,
                       .left_row = 1,
                       .left_depth = layer.stride,
                       .right = layer.delta.data(),
                       .right_depth = capacity_,
                       .out = below + begin * capacity_,
                       .out_row = capacity_,
                       .rows = end - begin,
                       .depth = layer.outputs,
                       .vectors = vectors()},
                      layer.by_feature.data() + begin * capacity_);
  }

  void update(int thread, Layer<T>& layer) {
    const auto [begin, end] = share(thread, layer.outputs, 2);
    const auto moment = [&, begin = begin](AlignedArray<T>& all) {
      return all.size() == 0 ? nullptr : all.data() + begin * layer.stride;
    };
    kernels_.update({.left = layer.delta.data() + begin * capacity_,
                     .left_row = capacity_,
                     .left_depth = 1,
                     .right = layer.by_row.data(),
                     .right_depth = layer.stride,
                     .out = layer.weights.data() + begin * layer.stride,
                     .out_row = layer.stride,
                     .rows = end - begin,
                     .depth = rows_,
                     .vectors = layer.stride / kernels_.lanes},
                    factors_, {.first = moment(layer.first), .second = moment(layer.second)});
  }

  /// A few rows would leave most of a vector over the batch empty; here it holds inputs instead.
  void forward_one_by_one(std::span<const T> features, T* outputs) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const T* const from = features.data() + row * network_.inputs();
      std::copy(from, from + network_.inputs(), layers_.front().by_row.data());
      for (std::int64_t l = 0; l < network_.layers(); ++l) {
        Layer<T>& layer = layers_[size(l)];
        const bool last = l + 1 == network_.layers();
        T* const to =
            last ? outputs + row * network_.classes() : layers_[size(l + 1)].by_row.data();
        kernels_.forward_one(layer.weights.data(), layer.stride, layer.by_row.data(),
                             layer.stride / kernels_.lanes, to, layer.outputs,
                             last ? Activation::none : Activation::relu);
      }
    }
  }

  Network network_;
  Optimizer optimizer_;
  Isa isa_;
  const LayerKernels<T>& kernels_;
  std::int64_t capacity_; ///< rows of a batch, padded
  Workers team_;
  std::vector<Layer<T>> layers_;
  AlignedArray<T> outputs_; ///< [classes][batch]
  StepFactors<T> factors_{};
  std::int64_t rows_ = 0; ///< of the batch at hand
  std::int64_t steps_ = 0;
  LossCounter losses_;
  StepTimer timer_;
};

} // namespace

namespace engines {

EngineInfo cpu() {
  return {.name = "cpu",
          .description = "fused products in explicit SIMD, threads where they pay",
          .threaded = true,
          .has_isa = true,
          .ladder = 30,
          .make_float32 = EngineInfo::construct<CpuEngine<float>>,
          .make_float64 = EngineInfo::construct<CpuEngine<double>>};
}

} // namespace engines

} // namespace diffbench::mlp
