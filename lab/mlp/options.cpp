// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "peer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

constexpr std::int64_t default_disc_rows = 1000;

} // namespace

void declare_optimizer(OptionList& options, mlp::Optimizer& optimizer) {
  options.value("--optimizer NAME", "sgd (default) or adam",
                [&optimizer](std::string_view option, const std::string& name) {
                  if (name != "sgd" && name != "adam") {
                    throw InvalidInput(fmt::format("{} {}: choose sgd or adam", option, name));
                  }
                  if (name == "adam") {
                    optimizer.kind = mlp::Optimizer::Kind::adam;
                    optimizer.rate = 0.001;
                  }
                });
  options.amount("--lr X", optimizer.rate, "learning rate", "0.1, adam 0.001");
}

void declare_engines(OptionList& options, EngineChoice& choice, SessionOptions& session,
                     std::string_view otherwise) {
  options.texts("--engine NAME", choice.names,
                described("engine to run, may be repeated", "", otherwise));
  declare_isa(options, session);
  const auto any = [&choice](bool mlp::EngineInfo::*heeds) { // what is unknown is refused later
    return choice.names.empty() || std::ranges::any_of(choice.names, [&](const auto& name) {
             const auto& all = mlp::all_engines();
             const auto found = std::ranges::find(all, name, &mlp::EngineInfo::name);
             return found == all.end() || (*found).*heeds;
           });
  };
  options.needs("--isa", "an engine that has a choice, such as cpu",
                [any] { return any(&mlp::EngineInfo::has_isa); });
  options.needs("--threads", "a threaded engine, such as cpu", [any, &options] {
    const auto typed =
        std::ranges::find(options.options(), "--threads", &OptionList::Option::name)->typed;
    return typed == std::vector<std::string>{"1"} || any(&mlp::EngineInfo::threaded) ||
           options.given("--peer");
  });
  declare_device(options, session.device, choice.device_chosen);
}

void declare_peers(OptionList& options, std::vector<std::string>& peers) {
  options.texts("--peer NAME", peers, "PyTorch in the same run: torch or torch_cuda");
}

void declare_training(OptionList& options, MlpOptions& training) {
  SessionOptions& session = training.session;
  options.group("Data and network");
  options.value("--data NAME", "disc (default), mnist or fashion",
                [&](std::string_view option, const std::string& name) {
                  const std::vector<std::string> known = {"disc", "mnist", "fashion"};
                  if (std::ranges::find(known, name) == known.end()) {
                    throw InvalidInput(fmt::format("{}: {}", option,
                                                   unknown_name("data set", name, known).what()));
                  }
                  training.data = name;
                });
  options.text("--data-dir DIR", training.data_dir,
               "where mnist or fashion are (default for fashion: where its package puts it)");
  options.needs("--data-dir", "--data mnist or fashion",
                [&training] { return training.data == "mnist" || training.data == "fashion"; });
  options.parsed("--layers N,N,...", training.network,
                 "widths: inputs, hidden layers, classes (default for disc: 2,4,8,16,32,2)",
                 mlp::parse_layers);
  options.group("Training");
  options.integer("--epochs N", training.epochs, {1, 1'000'000}, "passes over the data");
  options.integer("--batch N", training.batch, batch_limits, "rows in a step",
                  "100, all where there are fewer");
  declare_optimizer(options, training.optimizer);
  options.amount("--momentum X", training.optimizer.momentum, "of sgd");
  options.check([&] {
    if (training.optimizer.kind == mlp::Optimizer::Kind::adam && options.given("--momentum")) {
      throw InvalidInput("--momentum is for sgd; adam has moments of its own");
    }
  });
  options.amount("--weight-decay X", training.optimizer.weight_decay, "added to the gradient");
  declare_seed(options, training.seed, "for parameters, data and order");
  options.group("What runs");
  declare_engines(options, training.choice, session);
  declare_peers(options, training.peers);
  declare_threads(options, session.threads, "for threaded engines", "as many as pay");
  options.group("How batches come to the engine");
  options.parsed(
      "--transfer MODE", session.transfer,
      "send batches to a GPU one by one, from pageable or pinned memory (default: all rows stay "
      "there)",
      [](const std::string& text) { return transfer_names.parse(text); });
  options.flag("--async", training.prefetch,
               "run each engine once more, with the next batch gathered and copied during the "
               "step");
  options.check([&] {
    if (session.transfer != Transfer::pageable && session.transfer != Transfer::pinned) {
      throw InvalidInput(
          fmt::format("--transfer {}: batches are copied from pageable or pinned "
                      "memory",
                      to_string(session.transfer)));
    }
    training.transfer_chosen = options.given("--transfer");
    training.batches_from_host = training.prefetch || training.transfer_chosen;
  });
}

std::vector<mlp::EngineInfo> choose_engines(const EngineChoice& choice, int device) {
  std::vector<mlp::EngineInfo> chosen;
  for (const std::string& name : choice.names) {
    chosen.push_back(mlp::require_engine(name, device));
  }
  if (choice.named()) {
    return chosen;
  }
  std::optional<std::string> why_no_device = "no engine of this build runs on a GPU";
  for (const mlp::EngineInfo& engine : mlp::all_engines()) {
    const Probe probe = engine.probe(device);
    if (engine.device != DeviceKind::cpu && why_no_device) {
      why_no_device = probe.available ? std::nullopt : std::optional(probe.reason);
    }
    if (!engine.teaching && probe.available) {
      chosen.push_back(engine);
    }
  }
  if (choice.device_chosen && why_no_device) {
    throw Unavailable(fmt::format("--device {}: {}", device, *why_no_device));
  }
  return chosen;
}

void choose_engines(MlpOptions& training) {
  training.engines = choose_engines(training.choice, training.session.device);
  if (!training.choice.named()) { // emulated ones take minutes for what others do in a second
    std::erase_if(training.engines, [](const mlp::EngineInfo& engine) {
      return engine.device == DeviceKind::emulated;
    });
  }
  if (training.transfer_chosen && std::ranges::all_of(training.engines, [](const auto& engine) {
        return engine.device == DeviceKind::cpu;
      })) {
    training.notes.emplace_back("no engine here runs on a GPU, so --transfer has no effect");
  }
}

mlp::Split load_data(const MlpOptions& options) {
  if (options.data == "disc") {
    return mlp::disc_set(default_disc_rows, options.seed);
  }
  if (options.data_dir.empty() && options.data == "mnist") {
    throw InvalidInput(
        "--data mnist: name the folder of its four files by --data-dir; docs/install.md "
        "says where to get them");
  }
  return mlp::read_idx_directory(
      options.data_dir.empty() ? "/usr/share/datasets/fashion-mnist" : options.data_dir,
      options.data);
}

} // namespace diffbench::bench
