// The interface between whoever trains or asks a network and the engines that compute it.
//
// To add an engine, write ONE file mlp/engines/NAME.cpp with a class that implements Engine<T> and
// `namespace diffbench::mlp::engines { EngineInfo NAME() { return {...}; } }`, and configure again:
// the table is generated from the files, and the tests take it up. engines/scalar.cpp is the
// shortest.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/mlp/network.hpp"

#include <cstdint>
#include <memory>
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
};

/// The losses of the steps since the last wait(), each before its step.
struct Losses {
  double sum = 0;          ///< over the rows of all of them: with their number, the mean
  std::int64_t broken = 0; ///< the first of these steps, from 1, whose loss was not finite; 0: none
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

  /// What really ran.
  [[nodiscard]] virtual Provenance provenance() const = 0;
};

template <typename T>
using MakeEngine = std::unique_ptr<Engine<T>> (*)(const Training&, const SessionOptions&);

struct EngineInfo {
  std::string_view name; ///< as the file is called
  std::string_view description;
  DeviceKind device = DeviceKind::cpu;
  bool threaded = false;
  int ladder = 0; ///< order in lists and tables, the naive ones first
  Probe (*probe)(int device) noexcept = always_available;
  MakeEngine<float> make_float32 = nullptr;
  MakeEngine<double> make_float64 = nullptr;

  template <typename T>
  [[nodiscard]] MakeEngine<T> make() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return make_float32;
    } else {
      return make_float64;
    }
  }
};

/// All engines of this build, naive ones first.
[[nodiscard]] const std::vector<EngineInfo>& all_engines();
/// The one of that name. Throws InvalidInput, listing the names, for an unknown one, Unavailable,
/// with the reason, for one whose probe of `device` fails.
[[nodiscard]] EngineInfo require_engine(std::string_view name, int device = 0);

} // namespace diffbench::mlp
