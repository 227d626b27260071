// SPDX-License-Identifier: Apache-2.0
// The interface between whoever trains or asks a network and the engines that compute it.
//
// To add an engine, write ONE file mlp/engines/NAME.cpp with a class that
// implements Engine<T> and
// `namespace diffbench::mlp::engines { EngineInfo NAME() { return {...}; } }`,
// and build again: the table is generated from the files, and the tests take it up.
// engines/scalar.cpp is the shortest.
#pragma once

#include "diffbench/execution.hpp"
#include "diffbench/mlp/network.hpp"
#include "diffbench/registry_entry.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace diffbench::mlp {

/// torch.optim.SGD and torch.optim.Adam, with their defaults but for the rate.
struct Optimizer {
  enum class Kind { sgd, adam };
  Kind kind = Kind::sgd;
  double rate = 0.1;
  double momentum = 0;     ///< of SGD
  double weight_decay = 0; ///< added to the gradient, biases' too (L2)
  double beta1 = 0.9;      ///< of Adam, as are the next two
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// What an engine is made for.
struct Training {
  Network network;
  Optimizer optimizer;
  std::int64_t batch = 100; ///< rows of a step, at most
  bool times = false;       ///< the engine keeps an account for take_times(), which costs time
};

/// The losses of the steps since the last wait(), each before its step.
struct Losses {
  double sum = 0;          ///< over the rows of all of them: with their number, the mean
  std::int64_t broken = 0; ///< the first of these steps, from 1, whose loss was not finite; 0: none
};

/// What the parts of steps and of forward() took, in seconds. Parts that an engine does at once
/// stand where most of their work is: an update inside the product that makes the gradient is
/// `backward`.
struct StepTimes {
  double data = 0;    ///< gathering the rows of a batch
  double h2d = 0;     ///< rows and labels on their way to the device
  double launch = 0;  ///< issuing work, as far as the host does nothing else
  double forward = 0; ///< with the loss
  double backward = 0;
  double update = 0;
  double sync = 0; ///< barriers between threads; waiting for a device that has no work any more
};

/// By two clocks. What overlaps is in both.
struct EngineTimes {
  StepTimes host;   ///< exclusive: they add up to the time inside the engine's calls
  StepTimes device; ///< how long the device was busy, by its own clock; 0 without a device
};

/// The rows to train on, lying where the engine computes, so that only their order travels.
template <typename T>
class ResidentData {
 public:
  /// Copies them; replaces earlier ones. May be called with spans of any number of rows. Blocks.
  virtual void set_data(std::span<const T> features, std::span<const std::int32_t> labels) = 0;
  /// Steps on the rows that `order` names (indices from 0, checked by the caller), in batches of
  /// Training::batch, of which the last may be smaller. MAY return before they are done; `order`
  /// may be reused when it returns. Engine::wait() is for these steps too.
  virtual void run(std::span<const std::int32_t> order) = 0;

 protected:
  ~ResidentData() = default;
};

/// One network on one device, its parameters and the state of its optimizer resident there. Rows of
/// features are row-major, network.inputs() values each; labels are 0 .. classes-1 (checked by who
/// reads data, not here). Calls run in order; used by one thread at a time.
template <typename T>
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// Replaces the parameters and starts the optimizer anew. `parameters` as Network lays them out.
  virtual void set_parameters(std::span<const T> parameters) = 0;
  /// Waits, then copies them.
  virtual void get_parameters(std::span<T> parameters) = 0;

  /// One step of the optimizer on a batch of labels.size() rows, 1 to Training::batch. MAY return
  /// before it is done; the spans may be reused when it returns.
  virtual void step(std::span<const T> features, std::span<const std::int32_t> labels) = 0;
  /// Blocks until all steps are done; deferred errors are thrown here.
  virtual Losses wait() = 0;

  /// The outputs before the softmax, row-major [rows][classes], of any number of rows. Blocks.
  virtual void forward(std::span<const T> features, std::span<T> outputs) = 0;
  /// forward() in two halves, for at most Training::batch rows. The first MAY return before it is
  /// done: `outputs` must stay valid, and is complete, after the second. Nothing else in between.
  virtual void start_forward(std::span<const T> features, std::span<T> outputs) {
    forward(features, outputs);
  }
  virtual void finish_forward() {}

  /// Where the training data can lie with the engine; null for engines that have it only from
  /// step().
  [[nodiscard]] virtual ResidentData<T>* resident_data() { return nullptr; }

  /// The times of the calls since the last take_times(), or since the engine was made. Waits. Empty
  /// without Training::times, and for engines that know no more than the caller's clock.
  [[nodiscard]] virtual std::optional<EngineTimes> take_times() { return std::nullopt; }

  /// What really ran.
  [[nodiscard]] virtual Provenance provenance() const = 0;
};

using EngineInfo = RegistryEntry<Training, Engine>;

/// All engines of this build, naive ones first.
[[nodiscard]] const std::vector<EngineInfo>& all_engines();
/// All engines left out of this build.
[[nodiscard]] const std::vector<NotCompiled>& missing_engines();

/// The engine of that name; throws as require_entry does.
[[nodiscard]] EngineInfo require_engine(std::string_view name, int device = 0);

} // namespace diffbench::mlp
