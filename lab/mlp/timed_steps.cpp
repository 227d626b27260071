// SPDX-License-Identifier: Apache-2.0
#include "timed_steps.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/pace.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace diffbench::bench {

namespace {

/// It gets the data before the time begins where it can keep them, as a program that trains for
/// many epochs would arrange it.
class EngineSteps final : public TimedSteps {
 public:
  EngineSteps(std::unique_ptr<mlp::Engine<float>> engine, const TrainingJob& job)
      : engine_(std::move(engine)), job_(job) {
    if (mlp::ResidentData<float>* const resident = engine_->resident_data()) {
      resident->set_data(job.data.values, job.data.labels);
    }
  }

  Sample sample(std::int64_t steps) override {
    engine_->set_parameters(job_.start);
    prepare_order(steps);
    std::int64_t broken = 0;
    const CpuTime cpu;
    const Stopwatch watch;
    for (std::int64_t done = 0; done < steps && broken == 0;) {
      check_interrupt();
      const Stopwatch call;
      const std::int64_t count = pace_.next(steps - done);
      advance(done, count);
      const mlp::Losses losses = engine_->wait();
      pace_.took(count, call.seconds());
      broken = losses.broken != 0 ? done + losses.broken : 0;
      done += count;
    }
    const double seconds = watch.seconds();
    if (broken != 0) {
      throw LossNotFinite(fmt::format(
          "the loss is not finite in step {}; a smaller learning rate may help", broken));
    }
    return {.iterations = steps, .seconds = seconds, .cpu_seconds = cpu.seconds()};
  }
  void fetch(std::span<float> parameters) override { engine_->get_parameters(parameters); }
  [[nodiscard]] Provenance provenance() const override { return engine_->provenance(); }

 private:
  void advance(std::int64_t first, std::int64_t steps) {
    if (mlp::ResidentData<float>* const resident = engine_->resident_data()) {
      const std::int64_t batch = job_.training.batch;
      resident->run(std::span(order_).subspan(static_cast<std::size_t>(first * batch),
                                              static_cast<std::size_t>(steps * batch)));
      return;
    }
    for (std::int64_t step = first; step < first + steps; ++step) {
      engine_->step(job_.features(step), job_.labels(step));
    }
  }
  /// The rows of so many steps, one after another.
  void prepare_order(std::int64_t steps) {
    if (engine_->resident_data() == nullptr) {
      return;
    }
    for (auto row = static_cast<std::int64_t>(order_.size()); row < steps * job_.training.batch;
         ++row) {
      order_.push_back(static_cast<std::int32_t>(row % job_.data.rows()));
    }
  }

  std::unique_ptr<mlp::Engine<float>> engine_;
  const TrainingJob& job_;
  std::vector<std::int32_t> order_;
  Pace pace_;
};

class EngineAnswers final : public Timed<float> {
 public:
  EngineAnswers(std::unique_ptr<mlp::Engine<float>> engine, const TrainingJob& job)
      : engine_(std::move(engine)),
        job_(job),
        outputs_(static_cast<std::size_t>(job.training.batch * job.training.network.classes())) {
    engine_->set_parameters(job.start);
  }

  Sample sample(std::int64_t passes) override {
    const CpuTime cpu;
    const Stopwatch watch;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      check_interrupt();
      engine_->forward(job_.features(pass), outputs_);
    }
    return {.iterations = passes, .seconds = watch.seconds(), .cpu_seconds = cpu.seconds()};
  }
  void fetch(std::span<float> outputs) override { std::ranges::copy(outputs_, outputs.begin()); }
  [[nodiscard]] Provenance provenance() const override { return engine_->provenance(); }

 private:
  std::unique_ptr<mlp::Engine<float>> engine_;
  const TrainingJob& job_;
  std::vector<float> outputs_;
};

} // namespace

std::unique_ptr<TimedSteps> engine_steps(const mlp::EngineInfo& engine,
                                         const SessionOptions& session, const TrainingJob& job) {
  return std::make_unique<EngineSteps>(engine.make_float32(job.training, session), job);
}

std::unique_ptr<Timed<float>> engine_answers(const mlp::EngineInfo& engine,
                                             const SessionOptions& session,
                                             const TrainingJob& job) {
  return std::make_unique<EngineAnswers>(engine.make_float32(job.training, session), job);
}

} // namespace diffbench::bench
