// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/training.hpp"

#include "batches.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/pace.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::mlp {

namespace {

/// The steps of an epoch on rows that the host gathers; nothing when `stop` ended them.
std::optional<Losses> feed_batches(Engine<float>& engine, std::int64_t rows, BatchLoader& loader,
                                   const std::function<bool()>& stop, EpochTimes& times) {
  while (rows > 0) {
    if (stop && stop()) {
      return std::nullopt;
    }
    const Batch* batch = nullptr;
    {
      const ScopedTimer timer(times.data);
      batch = &loader.next();
    }
    const ScopedTimer timer(times.step);
    engine.step(batch->features, batch->labels);
    rows -= static_cast<std::int64_t>(batch->labels.size());
  }
  const ScopedTimer timer(times.wait);
  return engine.wait();
}

/// The same on rows that lie with the engine. Where there is a `stop`, long epochs are cut.
std::optional<Losses> run_resident(Engine<float>& engine, RowOrder& order, std::int64_t batch,
                                   const std::function<bool()>& stop, EpochTimes& times) {
  std::span<const std::int32_t> rows;
  {
    const ScopedTimer timer(times.data);
    rows = order.next_epoch();
  }
  const auto size = static_cast<std::int64_t>(rows.size());
  const std::int64_t batches = (size + batch - 1) / batch;
  Losses all;
  Pace pace;
  for (std::int64_t done = 0; done < batches;) {
    if (stop && stop()) {
      return std::nullopt;
    }
    const Stopwatch watch;
    const std::int64_t count = stop ? pace.next(batches - done) : batches;
    const std::int64_t first = done * batch;
    {
      const ScopedTimer timer(times.step);
      engine.resident_data()->run(
          rows.subspan(static_cast<std::size_t>(first),
                       static_cast<std::size_t>(std::min(count * batch, size - first))));
    }
    const ScopedTimer timer(times.wait);
    const Losses losses = engine.wait();
    all.sum += losses.sum;
    if (all.broken == 0 && losses.broken != 0) {
      all.broken = done + losses.broken;
    }
    pace.took(count, watch.seconds());
    done += count;
  }
  return all;
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

std::vector<std::int32_t> row_order(std::int64_t rows, std::uint64_t seed, std::int64_t epochs) {
  RowOrder order(rows, seed);
  std::vector<std::int32_t> all;
  all.reserve(static_cast<std::size_t>(rows * epochs));
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::span<const std::int32_t> next = order.next_epoch();
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
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
    std::optional<Losses> made;
    {
      const ScopedTimer whole(epoch.wall);
      made = resident != nullptr
                 ? run_resident(engine, *order, training.batch, schedule.stop, epoch.times)
                 : feed_batches(engine, data.rows(), *loader, schedule.stop, epoch.times);
    }
    if (!made) {
      (void)engine.wait();
      return;
    }
    const Losses losses = *made;
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

std::optional<Quality> quality_unless(const std::function<bool()>& stop, Engine<float>& engine,
                                      const Network& network, const DataSet& data) {
  std::vector<float> outputs(data.labels.size() * static_cast<std::size_t>(network.classes()));
  constexpr std::int64_t whole = 64; // rows, so that a cut is no small product
  Pace pace;
  for (std::int64_t done = 0; done < data.rows();) {
    if (stop && stop()) {
      return std::nullopt;
    }
    const Stopwatch watch;
    const std::int64_t left = data.rows() - done;
    const std::int64_t count =
        !stop ? left : std::min(left, whole * pace.next((left + whole - 1) / whole));
    const auto part = [&](auto& values, std::int64_t width) {
      return std::span(values).subspan(static_cast<std::size_t>(done * width),
                                       static_cast<std::size_t>(count * width));
    };
    engine.forward(part(data.values, data.features), part(outputs, network.classes()));
    pace.took((count + whole - 1) / whole, watch.seconds());
    done += count;
  }
  return quality_of(outputs, network.classes(), data.labels);
}

} // namespace diffbench::mlp
