// The options that the verbs behind `diffbench mlp` share: data, network, optimizer, engines.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/mlp/data.hpp"
#include "diffbench/mlp/engine.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace diffbench::bench {

/// As read: everything that can be known without the data is valid.
struct MlpOptions {
  std::string data = "disc"; ///< disc, mnist, fashion, or a .csv file
  std::string data_dir;
  std::optional<mlp::Network> network; ///< empty: the model's, or the default of the data
  mlp::Optimizer optimizer;
  std::int64_t epochs = 100;
  std::int64_t batch = 100;
  std::uint64_t seed = 1;
  std::string model; ///< .safetensors to start from
  std::string save;  ///< .safetensors of the first engine's result
  std::vector<mlp::EngineInfo> engines;
  bool engines_named = false; ///< else those that cannot take the network are left out
  SessionOptions session;
  bool prefetch = false;          ///< each engine once more, with its batches gathered ahead
  bool batches_from_host = false; ///< rows do not lie with the engine
  std::vector<std::string> notes; ///< options that will do nothing
};

/// The options as they were typed.
class MlpGroup {
 public:
  void declare(CLI::App& app);
  /// Throws InvalidInput or, for an engine that cannot run here, Unavailable.
  [[nodiscard]] MlpOptions read() const;

 private:
  std::string data_, data_dir_, layers_, optimizer_, rate_, momentum_, weight_decay_, epochs_,
      batch_, seed_, model_, save_, threads_, isa_, device_;
  std::vector<std::string> engines_;
  std::string transfer_;
  bool async_ = false;

  void read_feeding(MlpOptions& options) const;
};

/// --device; empty: not given. Throws InvalidInput.
[[nodiscard]] std::optional<int> read_device(const std::string& text);
/// The engines of these names; without any, all that run here but the scalar one, which is for
/// checking. With names those decide whether a device is needed, else its choice does. Throws
/// InvalidInput, Unavailable.
[[nodiscard]] std::vector<mlp::EngineInfo> choose_engines(const std::vector<std::string>& names,
                                                          std::optional<int> device = {});
/// --optimizer and --lr. Throws InvalidInput.
void read_optimizer(const std::string& name, const std::string& rate, mlp::Optimizer& optimizer);
/// --isa. Throws InvalidInput, Unavailable.
void read_isa(const std::string& name, SessionOptions& session);

/// Where scripts/get-data puts data sets.
[[nodiscard]] std::filesystem::path default_data_directory();
/// Makes or reads what --data names. Throws InvalidInput.
[[nodiscard]] mlp::Split load_data(const MlpOptions& options);

} // namespace diffbench::bench
