#include "step_check.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr double share_of_the_way = 1e-3;
/// Half the distance of neighbouring float32 numbers, over their size, at most.
constexpr double rounding = 0x1p-24;

constexpr std::int64_t most_checked_steps = 10;
constexpr std::int64_t fewest_steps = 2;
/// Of the reference altogether; the scalar engine makes about 1e9 a second.
constexpr double flops_wanted = 4e9;
constexpr double flops_for_scalar = 3e8;

const mlp::EngineInfo* find_engine(std::string_view name) {
  const auto& engines = mlp::all_engines();
  const auto found = std::find_if(engines.begin(), engines.end(),
                                  [&](const mlp::EngineInfo& info) { return info.name == name; });
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

/// What is compared at once.
struct Distances {
  double error = 0, way = 0, size = 0; ///< squared
  double max_abs_error = 0;
  std::int64_t nonfinite = 0;

  void add(double value, double reference, double start) {
    const double difference = std::abs(value - reference);
    if (!std::isfinite(difference)) {
      ++nonfinite;
      return;
    }
    error += difference * difference;
    way += (reference - start) * (reference - start);
    size += reference * reference;
    max_abs_error = std::max(max_abs_error, difference);
  }
  [[nodiscard]] double share_of_bound(std::int64_t steps) const {
    const double bound =
        share_of_the_way * std::sqrt(way) + rounding * static_cast<double>(steps) * std::sqrt(size);
    return error == 0 ? 0 : std::sqrt(error) / bound;
  }
};

} // namespace

StepReference::StepReference(const TrainingJob& job)
    : network_(job.training.network), start_(job.start.begin(), job.start.end()), end_(start_) {
  const double flops = network_.flops_per_step(job.training.batch);
  steps_ =
      std::clamp(static_cast<std::int64_t>(flops_wanted / flops), fewest_steps, most_checked_steps);
  const mlp::EngineInfo& info = reference_engine(flops * static_cast<double>(steps_));
  engine_ = info.name;
  const auto engine = info.make_float64(job.training, {});
  engine->set_parameters(start_);
  for (std::int64_t step = 0; step < steps_; ++step) {
    check_interrupt();
    const auto features = job.features(step);
    engine->step(std::vector<double>(features.begin(), features.end()), job.labels(step));
  }
  if (engine->wait().broken != 0) {
    throw Error("the loss is not finite in float64; a smaller learning rate may help");
  }
  engine->get_parameters(end_);
}

StepCheck StepReference::check(std::span<const float> parameters) const {
  StepCheck check{.steps = steps_, .max_abs_error = 0};
  const auto compare = [&](std::int64_t begin, std::int64_t end) {
    Distances distances;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      distances.add(static_cast<double>(parameters[i]), end_[i], start_[i]);
    }
    check.share_of_bound = std::max(check.share_of_bound, distances.share_of_bound(steps_));
    check.max_abs_error = std::max(*check.max_abs_error, distances.max_abs_error);
    check.nonfinite += distances.nonfinite;
  };
  for (std::int64_t layer = 0; layer < network_.layers(); ++layer) {
    compare(network_.weights_at(layer), network_.biases_at(layer));
    compare(network_.biases_at(layer), network_.weights_at(layer + 1));
  }
  return check;
}

} // namespace diffbench::bench
