// SPDX-License-Identifier: Apache-2.0
// Engines of networks with a fault each, built on the tuned one: what must never be timed.
#pragma once

#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// One step of an engine that takes it wrongly.
struct PlantedStep {
  const mlp::Network& network;
  mlp::Engine<float>& engine;
  std::int64_t number; ///< from 0
  std::span<const float> features;
  std::span<const std::int32_t> labels;
  std::vector<float> before, after; ///< parameters

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
  /// A right step from `before`; may be taken again.
  void take() { take(features, labels); }
  void take(std::span<const float> some_features, std::span<const std::int32_t> some_labels) {
    engine.set_parameters(before);
    engine.step(some_features, some_labels);
    engine.get_parameters(after);
  }
  /// On the first `count` rows, whose mean counts as that of all rows.
  void take_first(std::int64_t count) {
    take(features.first(static_cast<std::size_t>(count * network.inputs())),
         labels.first(static_cast<std::size_t>(count)));
  }
  /// On all rows but one, of which `row` is another's copy.
  void take_with(std::int64_t row, std::int64_t copied) {
    std::vector<float> wrong(features.begin(), features.end());
    std::vector<std::int32_t> wrong_labels(labels.begin(), labels.end());
    const auto width = static_cast<std::size_t>(network.inputs());
    std::ranges::copy(features.subspan(static_cast<std::size_t>(copied) * width, width),
                      wrong.begin() + row * network.inputs());
    wrong_labels[static_cast<std::size_t>(row)] = labels[static_cast<std::size_t>(copied)];
    take(wrong, wrong_labels);
  }
  /// From parameters of which some read as 0.
  void take_without(std::int64_t begin, std::int64_t end) {
    const std::vector<float> right = before;
    std::fill(before.begin() + begin, before.begin() + end, 0.0F);
    take();
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] += right[i] - before[i];
    }
  }
  /// Training takes the parameters so many times as far.
  void scale(std::int64_t begin, std::int64_t end, float times) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      after[i] = before[i] + times * (after[i] - before[i]);
    }
  }
  /// The parameter from `begin` to `end` that the step moved most.
  [[nodiscard]] std::int64_t liveliest(std::int64_t begin, std::int64_t end) const {
    const auto moved = [&](std::int64_t i) {
      return std::abs(after[static_cast<std::size_t>(i)] - before[static_cast<std::size_t>(i)]);
    };
    std::int64_t best = begin;
    for (std::int64_t i = begin; i < end; ++i) {
      best = moved(i) > moved(best) ? i : best;
    }
    return best;
  }
  /// The unit of a layer whose bias the step moved most.
  [[nodiscard]] std::int64_t liveliest_unit(std::int64_t layer) const {
    return liveliest(network.biases_at(layer), network.weights_at(layer + 1)) -
           network.biases_at(layer);
  }
};

struct PlantedFault {
  std::string_view name;
  void (*step)(PlantedStep& step);
};

// Each shows in a step from random parameters, on nets of one hidden layer and more.
inline constexpr auto planted_faults = std::to_array<PlantedFault>({
    {"the last row of a batch is left out",
     [](PlantedStep& s) {
       s.take_first(s.rows() - 1);
       s.scale(0, s.network.parameters(),
               static_cast<float>(s.rows() - 1) / static_cast<float>(s.rows()));
     }},
    {"the mean is over one row too few", [](PlantedStep& s) { s.take_first(s.rows() - 1); }},
    {"the last row is the first one again", [](PlantedStep& s) { s.take_with(s.rows() - 1, 0); }},
    {"the gradient is divided by one row too few",
     [](PlantedStep& s) {
       s.take();
       s.scale(0, s.network.parameters(),
               static_cast<float>(s.rows()) / static_cast<float>(s.rows() - 1));
     }},
    {"the learning rate is 1 % too high",
     [](PlantedStep& s) {
       s.take();
       s.scale(0, s.network.parameters(), 1.01F);
     }},
    {"the learning rate is 1 % too low",
     [](PlantedStep& s) {
       s.take();
       s.scale(0, s.network.parameters(), 0.99F);
     }},
    {"nothing is learnt", [](PlantedStep&) {}},
    {"a layer's biases are not updated",
     [](PlantedStep& s) {
       s.take();
       s.scale(s.network.biases_at(0), s.network.weights_at(1), 0);
     }},
    {"one hidden bias is not updated",
     [](PlantedStep& s) {
       s.take();
       const std::int64_t unit = s.network.biases_at(0) + s.liveliest_unit(0);
       s.scale(unit, unit + 1, 0);
     }},
    {"the last bias is not updated",
     [](PlantedStep& s) {
       s.take();
       s.scale(s.network.parameters() - 1, s.network.parameters(), 0);
     }},
    {"the first layer is not trained",
     [](PlantedStep& s) {
       s.take();
       s.scale(0, s.network.weights_at(1), 0);
     }},
    {"the last layer's weights are not trained",
     [](PlantedStep& s) {
       s.take();
       const std::int64_t last = s.network.layers() - 1;
       s.scale(s.network.weights_at(last), s.network.biases_at(last), 0);
     }},
    {"one unit's weights are not updated",
     [](PlantedStep& s) {
       s.take();
       const std::int64_t row = s.network.weights_at(0) + s.liveliest_unit(0) * s.network.inputs(0);
       s.scale(row, row + s.network.inputs(0), 0);
     }},
    {"the biases of the last layer are not added",
     [](PlantedStep& s) {
       s.take_without(s.network.biases_at(s.network.layers() - 1), s.network.parameters());
     }},
    {"the biases of the first layer are not added",
     [](PlantedStep& s) { s.take_without(s.network.biases_at(0), s.network.weights_at(1)); }},
    {"every step is on the batch of an earlier one",
     [](PlantedStep& s) { // as from a buffer that is written too late
       static std::vector<float> features;
       static std::vector<std::int32_t> labels;
       if (s.number == 0) {
         features.assign(s.features.begin(), s.features.end());
         labels.assign(s.labels.begin(), s.labels.end());
       }
       s.take(features, labels);
     }},
    {"the first step is left out",
     [](PlantedStep& s) {
       s.after = s.before;
       if (s.number > 0) {
         s.take();
       }
     }},
    {"parameters have the digits of bfloat16",
     [](PlantedStep& s) {
       s.take();
       for (float& parameter : s.after) {
         int exponent = 0;
         const float digits = std::frexp(parameter, &exponent);
         parameter = std::ldexp(std::round(digits * 256) / 256, exponent);
       }
     }},
});

/// The engine `cpu` with such a fault. For plain gradient descent: its optimizer starts anew in
/// each step, which is a fault of its own for any other.
class PlantedNet final : public mlp::Engine<float> {
 public:
  PlantedNet(const mlp::Training& training, void (*step)(PlantedStep&))
      : network_(training.network),
        engine_(mlp::require_engine("cpu").make_float32(training, {.threads = 1})),
        step_(step) {}

  void set_parameters(std::span<const float> parameters) override {
    engine_->set_parameters(parameters);
    steps_ = 0;
  }
  void get_parameters(std::span<float> parameters) override { engine_->get_parameters(parameters); }
  void step(std::span<const float> features, std::span<const std::int32_t> labels) override {
    std::vector<float> parameters(static_cast<std::size_t>(network_.parameters()));
    engine_->get_parameters(parameters);
    PlantedStep step{network_, *engine_, steps_++, features, labels, parameters, parameters};
    step_(step);
    engine_->set_parameters(step.after);
  }
  mlp::Losses wait() override { return engine_->wait(); }
  void forward(std::span<const float> features, std::span<float> outputs) override {
    engine_->forward(features, outputs);
  }
  [[nodiscard]] Provenance provenance() const override { return engine_->provenance(); }

 private:
  mlp::Network network_;
  std::unique_ptr<mlp::Engine<float>> engine_;
  void (*step_)(PlantedStep&);
  std::int64_t steps_ = 0;
};

template <auto step>
std::unique_ptr<mlp::Engine<float>> make_planted(const mlp::Training& training,
                                                 const SessionOptions& /*session*/) {
  return std::make_unique<PlantedNet>(training, step);
}

/// All of them, named by their faults.
inline std::vector<mlp::EngineInfo> planted_engines() {
  return []<std::size_t... fault>(std::index_sequence<fault...>) {
    return std::vector<mlp::EngineInfo>{
        {.name = planted_faults[fault].name,
         .description = "",
         .make_float32 = make_planted<planted_faults[fault].step>}...};
  }
  (std::make_index_sequence<planted_faults.size()>());
}

} // namespace diffbench::bench
