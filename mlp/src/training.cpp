#include "diffbench/mlp/training.hpp"

#include "diffbench/errors.hpp"
#include "random.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>

namespace diffbench::mlp {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time of its life to `seconds`.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

/// The rows of a batch, gathered.
struct Batch {
  std::vector<float> features;
  std::vector<std::int32_t> labels;

  void gather(const DataSet& data, std::span<const std::int32_t> rows) {
    features.resize(rows.size() * static_cast<std::size_t>(data.features));
    labels.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float* const from = data.values.data() + std::int64_t{rows[i]} * data.features;
      std::copy(from, from + data.features,
                features.data() + i * static_cast<std::size_t>(data.features));
      labels[i] = data.labels[static_cast<std::size_t>(rows[i])];
    }
  }
};

/// The steps of an epoch on rows that the host gathers.
void feed_batches(Engine<float>& engine, std::size_t size, const DataSet& data,
                  std::span<const std::int32_t> order, Batch& batch, EpochTimes& times) {
  for (std::size_t begin = 0; begin < order.size(); begin += size) {
    {
      const Timed timed(times.data);
      batch.gather(data, order.subspan(begin, std::min(size, order.size() - begin)));
    }
    const Timed timed(times.step);
    engine.step(batch.features, batch.labels);
  }
}

} // namespace

void check_fits(const Training& training, const DataSet& data) {
  const Network& network = training.network;
  if (network.inputs() != data.features) {
    throw InvalidInput("the network takes " + std::to_string(network.inputs()) + " inputs, and " +
                       data.name + " has " + std::to_string(data.features) + " features");
  }
  if (network.classes() < data.classes) {
    throw InvalidInput("the network has " + std::to_string(network.classes()) + " outputs, and " +
                       data.name + " has " + std::to_string(data.classes) + " classes");
  }
  if (training.batch < 1 || training.batch > data.rows()) {
    throw InvalidInput("a batch of " + std::to_string(training.batch) + " rows, and " + data.name +
                       " has " + std::to_string(data.rows()));
  }
}

void train(Engine<float>& engine, const Training& training, const DataSet& data,
           const Schedule& schedule, std::vector<float>& parameters,
           const std::function<bool(const Epoch&)>& on_epoch) {
  check_fits(training, data);
  engine.set_parameters(parameters);
  ResidentData<float>* const resident =
      schedule.feed == Feed::resident ? engine.resident_data() : nullptr;
  if (resident != nullptr) {
    resident->set_data(data.values, data.labels);
  }
  Random random(schedule.seed);
  std::vector<std::int32_t> order(data.labels.size());
  std::iota(order.begin(), order.end(), 0);
  Batch batch;
  for (std::int64_t number = 1; number <= schedule.epochs; ++number) {
    Epoch epoch{.number = number, .loss = 0, .times = {}};
    {
      const Timed timed(epoch.times.data);
      random.shuffle(std::span(order));
    }
    if (resident != nullptr) {
      const Timed timed(epoch.times.step);
      resident->run(order);
    } else {
      feed_batches(engine, static_cast<std::size_t>(training.batch), data, order, batch,
                   epoch.times);
    }
    Losses losses;
    {
      const Timed timed(epoch.times.wait);
      losses = engine.wait();
    }
    if (losses.broken != 0) {
      throw Error("the loss is not finite in epoch " + std::to_string(number) + ", step " +
                  std::to_string(losses.broken) + "; a smaller learning rate may help");
    }
    epoch.loss = losses.sum / static_cast<double>(data.rows());
    engine.get_parameters(parameters);
    if (!on_epoch(epoch)) {
      return;
    }
  }
}

Quality quality_on(Engine<float>& engine, const Network& network, const DataSet& data) {
  std::vector<float> outputs(data.labels.size() * static_cast<std::size_t>(network.classes()));
  engine.forward(data.values, outputs);
  return quality_of(outputs, network.classes(), data.labels);
}

} // namespace diffbench::mlp
