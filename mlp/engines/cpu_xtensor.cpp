// SPDX-License-Identifier: Apache-2.0
// The readable engine: the network as one would write it with NumPy, in xtensor's whole-array
// expressions, with the matrix products by BLAS. A temporary for nearly every line.
#include "diffbench/machine.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/mlp/openblas.hpp"
#include "loss_counter.hpp"
#include "optimizer_step.hpp"
#include "step_timer.hpp"

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace diffbench::mlp {

namespace {

template <typename T>
class XtensorEngine final : public Engine<T> {
  using Matrix = xt::xtensor<T, 2>;
  using Vector = xt::xtensor<T, 1>;

 public:
  XtensorEngine(const Training& training, const SessionOptions& options)
      : network_(training.network),
        optimizer_(training.optimizer),
        threads_(options.threads != 0 ? options.threads : usable_cpus()),
        parameters_(Vector::from_shape({size(network_.parameters())})),
        gradient_(parameters_),
        timer_(training) {}

  void set_parameters(std::span<const T> parameters) override {
    std::copy(parameters.begin(), parameters.end(), parameters_.begin());
    first_ = xt::zeros_like(parameters_);
    second_ = xt::zeros_like(parameters_);
    steps_ = 0;
  }
  void get_parameters(std::span<T> parameters) override {
    std::copy(parameters_.begin(), parameters_.end(), parameters.begin());
  }

  void step(std::span<const T> features, std::span<const std::int32_t> labels) override {
    timer_.start();
    openblas().set_num_threads(threads_); // of the whole process, so anew for each call
    const std::size_t rows = labels.size();
    const std::vector<Matrix> inputs = activate(features, rows);

    const Matrix& outputs = inputs.back();
    const Matrix shifted = outputs - xt::view(xt::amax(outputs, {1}), xt::all(), xt::newaxis());
    const Vector sums = xt::sum(xt::exp(shifted), {1});
    Matrix delta = xt::exp(shifted) / xt::view(sums, xt::all(), xt::newaxis());
    double loss = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto label = static_cast<std::size_t>(labels[row]);
      loss += static_cast<double>(std::log(sums(row)) - shifted(row, label));
      delta(row, label) -= 1;
    }
    losses_.add(loss);
    delta /= static_cast<T>(rows);
    timer_.charge(&StepTimes::forward);

    for (std::int64_t l = network_.layers() - 1; l >= 0; --l) {
      const Matrix& input = inputs[size(l)];
      weights(gradient_, l) = dot(delta, input, OpenBlas::transposed);
      biases(gradient_, l) = xt::sum(delta, {0});
      if (l > 0) {
        const Matrix w = weights(parameters_, l);
        delta = dot(delta, w) * (input > T{0});
      }
    }
    timer_.charge(&StepTimes::backward);
    optimize();
    timer_.charge(&StepTimes::update);
  }

  Losses wait() override { return losses_.take(); }

  void forward(std::span<const T> features, std::span<T> outputs) override {
    timer_.start();
    openblas().set_num_threads(threads_);
    const std::size_t rows = features.size() / size(network_.inputs());
    const std::vector<Matrix> inputs = activate(features, rows);
    std::copy(inputs.back().begin(), inputs.back().end(), outputs.begin());
    timer_.charge(&StepTimes::forward);
  }

  std::optional<EngineTimes> take_times() override { return timer_.take(); }

  [[nodiscard]] Provenance provenance() const override {
    return {.threads = threads_, .details = {{"blas", openblas().get_config()}}};
  }

 private:
  static Matrix dot(const Matrix& a, const Matrix& b, int how_a = OpenBlas::as_it_lies,
                    int how_b = OpenBlas::as_it_lies) {
    const auto rows = [](const Matrix& m, int how) {
      return m.shape(how == OpenBlas::as_it_lies ? 0 : 1);
    };
    const auto columns = [](const Matrix& m, int how) {
      return m.shape(how == OpenBlas::as_it_lies ? 1 : 0);
    };
    Matrix c = Matrix::from_shape({rows(a, how_a), columns(b, how_b)});
    const auto narrow = [](std::size_t count) { return static_cast<int>(count); };
    const auto gemm = [] {
      if constexpr (std::is_same_v<T, float>) {
        return openblas().sgemm;
      } else {
        return openblas().dgemm;
      }
    }();
    gemm(OpenBlas::row_major, how_a, how_b, narrow(c.shape(0)), narrow(c.shape(1)),
         narrow(columns(a, how_a)), T{1}, a.data(), narrow(a.shape(1)), b.data(),
         narrow(b.shape(1)), T{0}, c.data(), narrow(c.shape(1)));
    return c;
  }
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  auto weights(Vector& all, std::int64_t l) const {
    const std::array<std::size_t, 2> shape = {size(network_.outputs(l)), size(network_.inputs(l))};
    return xt::adapt(all.data() + network_.weights_at(l), shape[0] * shape[1], xt::no_ownership(),
                     shape);
  }
  auto biases(Vector& all, std::int64_t l) const {
    const std::array<std::size_t, 1> shape = {size(network_.outputs(l))};
    return xt::adapt(all.data() + network_.biases_at(l), shape[0], xt::no_ownership(), shape);
  }

  /// The inputs of each layer, and the outputs of the last one: [rows][width] each.
  std::vector<Matrix> activate(std::span<const T> features, std::size_t rows) {
    std::vector<Matrix> inputs = {Matrix::from_shape({rows, size(network_.inputs())})};
    std::copy(features.begin(), features.end(), inputs[0].begin());
    for (std::int64_t l = 0; l < network_.layers(); ++l) {
      const Matrix w = weights(parameters_, l);
      const Matrix sums = dot(inputs.back(), w, OpenBlas::as_it_lies, OpenBlas::transposed) +
                          biases(parameters_, l);
      // where() keeps a NaN, maximum() would not.
      inputs.push_back(l + 1 < network_.layers() ? Matrix(xt::where(sums < T{0}, T{0}, sums))
                                                 : sums);
    }
    return inputs;
  }

  void optimize() {
    const StepFactors<T> f = step_factors<T>(optimizer_, ++steps_);
    gradient_ += f.weight_decay * parameters_;
    if (f.adam) {
      first_ = f.keep1 * first_ + f.take1 * gradient_;
      second_ = f.keep2 * second_ + f.take2 * xt::square(gradient_);
      parameters_ -= f.rate * first_ / (xt::sqrt(second_) / f.root_correction + f.epsilon);
    } else if (optimizer_.momentum != 0) {
      first_ = f.momentum * first_ + gradient_;
      parameters_ -= f.rate * first_;
    } else {
      parameters_ -= f.rate * gradient_;
    }
  }

  Network network_;
  Optimizer optimizer_;
  int threads_;
  Vector parameters_;
  Vector gradient_;
  Vector first_, second_; ///< the optimizer's moments
  std::int64_t steps_ = 0;
  LossCounter losses_;
  StepTimer timer_;
};

} // namespace

namespace engines {

EngineInfo cpu_xtensor() {
  return {.name = "cpu_xtensor",
          .description = "NumPy-style expressions of xtensor, products by BLAS",
          .threaded = true,
          .ladder = 10,
          .probe = probe_openblas,
          .make_float32 = EngineInfo::construct<XtensorEngine<float>>,
          .make_float64 = EngineInfo::construct<XtensorEngine<double>>};
}

} // namespace engines

} // namespace diffbench::mlp
