// SPDX-License-Identifier: Apache-2.0
// The options that the verbs behind `diffbench mlp` share: data, network, optimizer, engines.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"
#include "option_groups.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

inline constexpr Limits batch_limits{1, 10'000'000};

/// Which engines are asked for, and where they run.
struct EngineChoice {
  std::vector<std::string> names;
  bool device_chosen = false;

  /// Else those that cannot take the network are left out.
  [[nodiscard]] bool named() const { return !names.empty(); }
};

struct MlpOptions {
  std::string data = "disc"; ///< disc, mnist or fashion
  std::string data_dir;
  std::optional<mlp::Network> network; ///< empty: the default of the data
  mlp::Optimizer optimizer;
  std::int64_t epochs = 100;
  std::int64_t batch = 0; ///< 0: 100, or all rows where there are fewer
  std::uint64_t seed = 1;
  std::vector<std::string> peers;
  EngineChoice choice;
  std::vector<mlp::EngineInfo> engines; ///< those chosen, once that is known
  SessionOptions session;
  bool prefetch = false;          ///< each engine once more, with its batches gathered ahead
  bool batches_from_host = false; ///< rows do not lie with the engine
  bool transfer_chosen = false;
  std::vector<std::string> notes; ///< options that will do nothing
};

/// --optimizer and --lr.
void declare_optimizer(OptionList& options, mlp::Optimizer& optimizer);
/// --engine, --isa and --device.
void declare_engines(OptionList& options, EngineChoice& choice, SessionOptions& session,
                     std::string_view otherwise = "all but scalar");
/// --peer.
void declare_peers(OptionList& options, std::vector<std::string>& peers);
/// All of `diffbench mlp train`.
void declare_training(OptionList& options, MlpOptions& training);

/// The engines of these names; without any, all that run here but the scalar one, which is for
/// checking. With names those decide whether a device is needed, else its choice does. Throws
/// InvalidInput, Unavailable.
[[nodiscard]] std::vector<mlp::EngineInfo> choose_engines(const EngineChoice& choice, int device);
/// Those of a training, without the emulated ones where none are named.
void choose_engines(MlpOptions& training);

/// Makes or reads what --data names. Throws InvalidInput.
[[nodiscard]] mlp::Split load_data(const MlpOptions& options);

} // namespace diffbench::bench
