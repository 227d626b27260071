// SPDX-License-Identifier: Apache-2.0
// Training in epochs: whoever has an engine and data can have a trained network, with its quality.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/mlp/quality.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace diffbench::mlp {

/// How long the parts of an epoch took on the host's clock, in seconds.
struct EpochTimes {
  double data = 0; ///< drawing the order, gathering the rows of each batch, or waiting for them
  double step = 0; ///< issuing the steps; on an engine that does not return early, the steps
  double wait = 0; ///< until the last step was done
};

struct Epoch {
  std::int64_t number = 0; ///< from 1
  double loss = 0;         ///< mean over the rows, each taken before its step
  EpochTimes times;
  double wall = 0;                   ///< seconds from the drawing of the order to the last step
  std::optional<EngineTimes> engine; ///< its own account of that, where it keeps one
};

/// How the engine comes by the rows of a batch.
enum class Feed {
  resident, ///< they lie with the engine, where it has room for them; else as `batches`
  batches,  ///< the host gathers them and hands them over, batch by batch
};

struct Schedule {
  std::int64_t epochs = 1;
  std::uint64_t seed = 1; ///< of the order of the rows
  Feed feed = Feed::resident;
  bool prefetch = false; ///< of `batches`: a thread gathers the next one while a step runs
  /// Asked several times a second: where it says true, the epoch is given up and training ends.
  std::function<bool()> stop = {};
};

/// Trains over all rows, in batches of training.batch in an order drawn anew each epoch; a last
/// batch may be smaller. Calls `on_epoch` after each epoch; where that returns false, it ends
/// there. When Schedule::stop ends it, `parameters` are those from before the epoch that was given
/// up, and the engine's are anything. Throws Error when the loss is not finite any more: the
/// message has epoch and step, and `parameters` then holds those from before that epoch.
/// `parameters` has the start before and the result after.
void train(Engine<float>& engine, const Training& training, const DataSet& data,
           const Schedule& schedule, std::vector<float>& parameters,
           const std::function<bool(const Epoch&)>& on_epoch);

/// Of the network as the engine has it, on these rows, unless `stop`, asked several times a second,
/// says true meanwhile.
[[nodiscard]] std::optional<Quality> quality_unless(const std::function<bool()>& stop,
                                                    Engine<float>& engine, const Network& network,
                                                    const DataSet& data);

/// The order in which train() takes `rows` rows with this seed, for as many epochs one after
/// another.
[[nodiscard]] std::vector<std::int32_t> row_order(std::int64_t rows, std::uint64_t seed,
                                                  std::int64_t epochs);

/// Throws InvalidInput unless the network takes the data's features and gives at least its classes,
/// and a batch is no larger than the data.
void check_fits(const Training& training, const DataSet& data);

} // namespace diffbench::mlp
