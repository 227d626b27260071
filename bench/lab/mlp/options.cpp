#include "mlp/options.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace diffbench::bench {

namespace {

constexpr std::int64_t default_disc_rows = 1000;
constexpr std::int64_t most_epochs = 1'000'000;
constexpr std::int64_t largest_integer = 1'000'000'000;

mlp::Optimizer::Kind parse_kind(const std::string& name) {
  if (name == "sgd") {
    return mlp::Optimizer::Kind::sgd;
  }
  if (name == "adam") {
    return mlp::Optimizer::Kind::adam;
  }
  throw InvalidInput(fmt::format("{}: choose of sgd, adam", name));
}

void assign_at_least(std::string_view option, const std::string& text, double least,
                     double& target) {
  assign_real(option, text, target);
  if (!(target >= least)) {
    throw InvalidInput(fmt::format("{} {}: give a number from {}", option, text, least));
  }
}

} // namespace

std::optional<int> read_device(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  return static_cast<int>(parse_integer("--device", text, 0, 1 << 16));
}

std::vector<mlp::EngineInfo> choose_engines(const std::vector<std::string>& names,
                                            std::optional<int> device) {
  const int number = device.value_or(0);
  std::vector<mlp::EngineInfo> chosen;
  chosen.reserve(names.size());
  for (const std::string& name : names) {
    chosen.push_back(mlp::require_engine(name, number));
  }
  if (!names.empty()) {
    return chosen;
  }
  std::optional<std::string> why_no_device = "no engine of this build runs on a GPU";
  for (const mlp::EngineInfo& engine : mlp::all_engines()) {
    const Probe probe = engine.probe(number);
    if (engine.device != DeviceKind::cpu && why_no_device) {
      why_no_device = probe.available ? std::nullopt : std::optional(probe.reason);
    }
    if (engine.name != "scalar" && probe.available) {
      chosen.push_back(engine);
    }
  }
  if (device && why_no_device) {
    throw Unavailable(fmt::format("--device {}: {}", number, *why_no_device));
  }
  return chosen;
}

void read_optimizer(const std::string& name, const std::string& rate, mlp::Optimizer& optimizer) {
  assign("--optimizer", name, optimizer.kind, parse_kind);
  if (optimizer.kind == mlp::Optimizer::Kind::adam) {
    optimizer.rate = 0.001;
  }
  assign_at_least("--lr", rate, 0, optimizer.rate);
}

void read_isa(const std::string& name, SessionOptions& session) {
  assign("--isa", name, session.isa, parse_isa);
  if (session.isa && *session.isa > best_isa()) {
    throw Unavailable(
        fmt::format("--isa {}: this CPU has no more than {}", name, to_string(best_isa())));
  }
}

void MlpGroup::declare(CLI::App& app) {
  begin_group(app, "Data and network");
  declare_value(app, "--data", data_, "NAME|FILE.csv",
                "disc (default), mnist, fashion, or a table whose last column is the class");
  declare_value(app, "--data-dir", data_dir_, "DIR",
                "of mnist or fashion (default: where scripts/get-data puts them)");
  declare_value(app, "--layers", layers_, "N,N,...",
                "widths: inputs, hidden layers, classes (default for disc: 2,4,8,16,32,2)");
  declare_value(app, "--model", model_, "FILE.safetensors", "start from these parameters");
  declare_value(app, "--save", save_, "FILE.safetensors", "the first engine's parameters");
  begin_group(app, "Training");
  declare_value(app, "--epochs", epochs_, "N", "passes over the data (default 100)");
  declare_value(app, "--batch", batch_, "N", "rows of a step (default 100)");
  declare_value(app, "--optimizer", optimizer_, "NAME", "sgd (default) or adam");
  declare_value(app, "--lr", rate_, "X", "learning rate (default 0.1; adam 0.001)");
  declare_value(app, "--momentum", momentum_, "X", "of sgd (default 0)");
  declare_value(app, "--weight-decay", weight_decay_, "X", "added to the gradient (default 0)");
  declare_value(app, "--seed", seed_, "N", "of parameters, data and order (default 1)");
  begin_group(app, "What runs");
  declare_values(app, "--engine", engines_, "NAME",
                 "engine to run, may be repeated (default: all but scalar)");
  declare_value(app, "--threads", threads_, "N", "for threaded engines (default: what pays)");
  declare_value(app, "--isa", isa_, "NAME", "baseline, avx2 or avx512 (default: the best)");
  begin_group(app, "How batches come to the engine");
  declare_value(
      app, "--transfer", transfer_, "MODE",
      "to a GPU one by one, from pageable or pinned memory (default: all rows lie there)");
  declare_flag(app, "--async", async_,
               "each engine once more, with the next batch gathered and copied beside the step");
}

void MlpGroup::read_feeding(MlpOptions& options) const {
  assign("--transfer", transfer_, options.session.transfer, parse_transfer);
  if (options.session.transfer != Transfer::pageable &&
      options.session.transfer != Transfer::pinned) {
    throw InvalidInput(
        fmt::format("--transfer {}: batches are copied from pageable or pinned memory", transfer_));
  }
  options.prefetch = async_;
  options.batches_from_host = async_ || !transfer_.empty();
  if (!transfer_.empty() && std::ranges::all_of(options.engines, [](const auto& engine) {
        return engine.device == DeviceKind::cpu;
      })) {
    options.notes.emplace_back("no engine here runs on a GPU, so --transfer has no effect");
  }
}

MlpOptions MlpGroup::read() const {
  MlpOptions options;
  if (!data_.empty()) {
    options.data = data_;
  }
  options.data_dir = data_dir_;
  options.model = model_;
  options.save = save_;
  if (!layers_.empty()) {
    if (!model_.empty()) {
      throw InvalidInput("--layers and --model: the model says what its layers are; give one");
    }
    assign("--layers", layers_, options.network, mlp::parse_layers);
  }
  read_optimizer(optimizer_, rate_, options.optimizer);
  if (options.optimizer.kind == mlp::Optimizer::Kind::adam && !momentum_.empty()) {
    throw InvalidInput("--momentum is for sgd; adam has moments of its own");
  }
  assign_at_least("--momentum", momentum_, 0, options.optimizer.momentum);
  assign_at_least("--weight-decay", weight_decay_, 0, options.optimizer.weight_decay);
  assign_integer("--epochs", epochs_, 1, most_epochs, options.epochs);
  assign_integer("--batch", batch_, 1, largest_integer, options.batch);
  if (!seed_.empty()) {
    options.seed = static_cast<std::uint64_t>(parse_integer("--seed", seed_, 0, largest_integer));
  }
  if (!threads_.empty()) {
    options.session.threads =
        static_cast<int>(parse_integer("--threads", threads_, 1, max_threads));
  }
  read_isa(isa_, options.session);
  options.engines = choose_engines(engines_);
  options.engines_named = !engines_.empty();
  if (!options.engines_named) { // emulated ones take minutes for what others do in a second
    std::erase_if(options.engines, [](const mlp::EngineInfo& engine) {
      return engine.device == DeviceKind::emulated;
    });
  }
  read_feeding(options);
  return options;
}

std::filesystem::path default_data_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "diffbench" / "data";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : ".") / ".cache" / "diffbench" / "data";
}

mlp::Split load_data(const MlpOptions& options) {
  if (options.data == "disc") {
    return mlp::disc_set(default_disc_rows, options.seed);
  }
  if (options.data == "mnist" || options.data == "fashion") {
    return mlp::read_idx_directory(options.data_dir.empty()
                                       ? default_data_directory() / options.data
                                       : std::filesystem::path(options.data_dir),
                                   options.data);
  }
  if (options.data.ends_with(".csv")) {
    return mlp::read_csv(options.data);
  }
  throw InvalidInput(
      fmt::format("--data {}: choose of disc, mnist, fashion, or give a .csv file", options.data));
}

} // namespace diffbench::bench
