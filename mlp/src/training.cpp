#include "diffbench/mlp/training.hpp"

#include "batches.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace diffbench::mlp {

namespace {

/// The steps of an epoch on rows that the host gathers.
void feed_batches(Engine<float>& engine, std::int64_t rows, BatchLoader& loader,
                  EpochTimes& times) {
  while (rows > 0) {
    const Batch* batch = nullptr;
    {
      const ScopedTimer timer(times.data);
      batch = &loader.next();
    }
    const ScopedTimer timer(times.step);
    engine.step(batch->features, batch->labels);
    rows -= static_cast<std::int64_t>(batch->labels.size());
  }
}

/// The steps of an epoch on rows that lie with the engine.
void run_resident(ResidentData<float>& resident, RowOrder& order, EpochTimes& times) {
  std::span<const std::int32_t> rows;
  {
    const ScopedTimer timer(times.data);
    rows = order.next_epoch();
  }
  const ScopedTimer timer(times.step);
  resident.run(rows);
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
  std::optional<RowOrder> order;
  std::optional<BatchLoader> loader;
  if (resident != nullptr) {
    resident->set_data(data.values, data.labels);
    order.emplace(data.rows(), schedule.seed);
  } else {
    loader.emplace(data, training.batch, schedule.seed, schedule.prefetch);
  }
  (void)engine.take_times(); // what came before is no part of an epoch
  for (std::int64_t number = 1; number <= schedule.epochs; ++number) {
    Epoch epoch{.number = number, .loss = 0, .times = {}, .wall = 0, .engine = {}};
    Losses losses;
    {
      const ScopedTimer whole(epoch.wall);
      if (resident != nullptr) {
        run_resident(*resident, *order, epoch.times);
      } else {
        feed_batches(engine, data.rows(), *loader, epoch.times);
      }
      const ScopedTimer timer(epoch.times.wait);
      losses = engine.wait();
    }
    epoch.engine = engine.take_times();
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
