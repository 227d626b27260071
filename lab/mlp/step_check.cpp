// SPDX-License-Identifier: Apache-2.0
#include "step_check.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr double share_of_the_way = 1e-3;
/// Half the distance of neighbouring float32 numbers, over their size, at most.
constexpr double rounding = 0x1p-24;

/// Of the sum that is a ReLU's input, for each of its size: sums in float32, one number after
/// another, come to a third of the second at most, times the root of their length.
constexpr double least_roundings = 4, roundings_of_sum = 2;
/// A right engine may have the ReLUs of both runs.
constexpr double relu_margin = 2;

constexpr std::int64_t most_checked_steps = 10;
constexpr std::int64_t fewest_steps = 2;
/// Of the reference altogether; the scalar engine makes about 1e9 a second.
constexpr double flops_wanted = 4e9;
constexpr double flops_for_scalar = 3e8;

const mlp::EngineInfo* find_engine(std::string_view name) {
  const auto& engines = mlp::all_engines();
  const auto found = std::ranges::find(engines, name, &mlp::EngineInfo::name);
  return found != engines.end() && found->probe(0).available ? &*found : nullptr;
}

/// cpu_xtensor computes by BLAS, so it shares no code with `cpu`, which is to be checked.
const mlp::EngineInfo& reference_engine(double flops) {
  for (const std::string_view name : {"cpu_xtensor", "cpu"}) {
    const mlp::EngineInfo* const fast = find_engine(name);
    if (fast != nullptr && flops > flops_for_scalar) {
      return *fast;
    }
  }
  return *find_engine("scalar");
}

double norm(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(squares);
}

} // namespace

StepReference::StepReference(const TrainingJob& job)
    : job_(job), start_(job.start.begin(), job.start.end()) {
  const mlp::Network& network = job.training.network;
  const double flops = network.flops_per_step(job.training.batch);
  steps_ =
      std::clamp(static_cast<std::int64_t>(flops_wanted / flops), fewest_steps, most_checked_steps);
  engine_ = reference_engine(flops * static_cast<double>(steps_));
  for (std::int64_t layer = 0; layer < network.layers(); ++layer) {
    const auto weights = static_cast<std::size_t>(network.weights_at(layer));
    const auto biases = static_cast<std::size_t>(network.biases_at(layer));
    const auto end = static_cast<std::size_t>(network.weights_at(layer + 1));
    parts_.insert(parts_.end(), {{weights, biases}, {biases, end}});
  }
  end_ = train(start_);
}

std::vector<double> StepReference::train(std::span<const double> start) const {
  const auto engine = engine_.make_float64(job_.training, {});
  engine->set_parameters(start);
  for (std::int64_t step = 0; step < steps_; ++step) {
    check_interrupt();
    const auto features = job_.features(step);
    engine->step(std::vector<double>(features.begin(), features.end()), job_.labels(step));
  }
  if (engine->wait().broken != 0) {
    throw Error("the loss is not finite in float64; a smaller learning rate may help");
  }
  std::vector<double> end(start.size());
  engine->get_parameters(end);
  return end;
}

/// For each hidden layer how far from zero an input of its ReLUs may be and yet have either sign in
/// float32. They are the outputs of the network that ends there.
std::vector<double> StepReference::relu_doubts() const {
  const std::vector<std::int64_t>& widths = job_.training.network.widths();
  const auto features = job_.features(0);
  std::vector<double> doubts;
  for (std::size_t layers = 1; layers + 1 < widths.size(); ++layers) {
    const auto within = std::span(widths).first(layers + 1);
    const mlp::Network network({within.begin(), within.end()});
    const auto engine = engine_.make_float64(
        {.network = network, .optimizer = {}, .batch = job_.training.batch}, {});
    engine->set_parameters(std::span(start_).first(static_cast<std::size_t>(network.parameters())));
    std::vector<double> inputs(static_cast<std::size_t>(job_.training.batch * network.classes()));
    engine->forward(std::vector<double>(features.begin(), features.end()), inputs);
    const double size = norm(inputs, std::vector<double>(inputs.size())) /
                        std::sqrt(static_cast<double>(inputs.size()));
    const auto length = static_cast<double>(widths[layers - 1]);
    doubts.push_back(rounding * (least_roundings + roundings_of_sum * std::sqrt(length)) * size);
  }
  return doubts;
}

void StepReference::allow_for_relus() {
  relus_allowed_for_ = true;
  const std::vector<double> doubts = relu_doubts();
  for (const double sign : {-1.0, 1.0}) {
    std::vector<double> shift(start_.size());
    for (std::size_t layer = 0; layer < doubts.size(); ++layer) {
      const Part& biases = parts_[2 * layer + 1];
      std::ranges::fill(std::span(shift).subspan(biases.begin, biases.end - biases.begin),
                        sign * doubts[layer]);
    }
    std::vector<double> shifted = start_;
    std::ranges::transform(shifted, shift, shifted.begin(), std::plus());
    shifted = train(shifted);
    std::ranges::transform(shifted, shift, shifted.begin(), std::minus());
    for (Part& part : parts_) {
      const std::size_t size = part.end - part.begin;
      part.relu_reach += norm(std::span(shifted).subspan(part.begin, size),
                              std::span(end_).subspan(part.begin, size));
    }
  }
}

StepCheck StepReference::check(std::span<const float> parameters) {
  StepCheck check = compare(parameters);
  if (!check.ok() && check.nonfinite == 0 && !relus_allowed_for_) {
    allow_for_relus();
    check = compare(parameters);
  }
  return check;
}

StepCheck StepReference::compare(std::span<const float> parameters) const {
  StepCheck check{.steps = steps_, .max_abs_error = 0};
  for (const Part& part : parts_) {
    double error = 0, way = 0, size = 0; // squared
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const double difference = std::abs(static_cast<double>(parameters[i]) - end_[i]);
      if (!std::isfinite(difference)) {
        ++check.nonfinite;
        continue;
      }
      error += difference * difference;
      way += (end_[i] - start_[i]) * (end_[i] - start_[i]);
      size += end_[i] * end_[i];
      check.max_abs_error = std::max(*check.max_abs_error, difference);
    }
    const double bound = share_of_the_way * std::sqrt(way) +
                         rounding * static_cast<double>(steps_) * std::sqrt(size) +
                         relu_margin * part.relu_reach;
    if (error > 0) {
      check.share_of_bound = std::max(check.share_of_bound, std::sqrt(error) / bound);
    }
  }
  return check;
}

std::string to_text(const StepCheck& check) {
  return fmt::format(
      "{}{} {:.3g} times as far from the reference as {} may be, {} numbers not finite",
      check.net.empty() ? "" : "on the small net " + check.net + " ",
      check.steps > 0 ? fmt::format("after {} steps", check.steps) : "outputs",
      check.share_of_bound, check.steps > 0 ? "it" : "they", check.nonfinite);
}

double larger_error(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

double output_error(const mlp::Network& network, std::span<const float> parameters,
                    std::span<const float> rows, std::span<const float> outputs) {
  const auto reference = mlp::require_engine("scalar").make<double>()(
      {.network = network, .optimizer = {}, .batch = 1}, {});
  reference->set_parameters(std::vector<double>(parameters.begin(), parameters.end()));
  std::vector<double> right(outputs.size());
  const std::vector<double> features(rows.begin(), rows.end());
  const auto inputs = static_cast<std::size_t>(network.inputs());
  const auto classes = static_cast<std::size_t>(network.classes());
  for (std::size_t row = 0; row < features.size() / inputs; ++row) {
    check_interrupt();
    reference->forward(std::span(features).subspan(row * inputs, inputs),
                       std::span(right).subspan(row * classes, classes));
  }
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    const double here = std::abs(static_cast<double>(outputs[i]) - right[i]);
    error = larger_error(error, here);
  }
  return error / largest;
}

StepCheck check_outputs(double output_error) {
  return {.share_of_bound = output_error / most_output_error,
          .nonfinite = std::isfinite(output_error) ? 0 : 1};
}

} // namespace diffbench::bench
