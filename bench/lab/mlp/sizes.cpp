#include "mlp/sizes.hpp"

#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "option_values.hpp"
#include "value_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::int64_t disc_rows = 1000;
constexpr std::int64_t epochs = 100;
constexpr std::int64_t largest = 1 << 14;

/// What tells the two verbs apart.
struct StudyKind {
  std::string_view verb, symbol, option, sizes, help;
  mlp::Network (*network)(std::int64_t size);
};

mlp::Network twice_as_wide(std::int64_t width) { return mlp::Network({2, width, width, 2}); }

constexpr StudyKind depth{"depth",
                          "T",
                          "--last",
                          "4:4096:x2",
                          "widths of the last hidden layer, powers of 2 (default 4:4096:x2)",
                          mlp::doubling_network};
constexpr StudyKind width{"width",
                          "N",
                          "--hidden",
                          "10,20,50,100,200,500,1000,2000,4000",
                          "widths of both hidden layers (default 10,20,50, ... 4000)",
                          twice_as_wide};

struct SizeOptions {
  std::vector<std::string> sizes;
  RaceGroup race;
  LabOutput output;
};

/// The networks to race on, smallest first.
std::vector<SizePoint> read_sizes(const StudyKind& kind, const std::vector<std::string>& typed) {
  const std::string text =
      typed.empty() ? std::string(kind.sizes) : fmt::format("{}", fmt::join(typed, ","));
  const ValueList list(kind.option, text, true);
  constexpr double most = 1000;
  if (list.count() > most) {
    throw InvalidInput(fmt::format("{} {}: more than {} sizes", kind.option, text, most));
  }
  std::vector<SizePoint> points;
  for (const std::string& value : list.values()) {
    const std::int64_t size = parse_integer(kind.option, value, 1, largest);
    std::optional<mlp::Network> network;
    assign(kind.option, value, network, [&](const std::string&) { return kind.network(size); });
    points.push_back({.size = size, .network = *network, .race = {}});
  }
  std::ranges::sort(points, {}, &SizePoint::size);
  return points;
}

SizeStudy measure(const StudyKind& kind, std::vector<SizePoint> points, RaceSetting setting,
                  Progress& progress) {
  const mlp::DataSet disc = mlp::disc_set(disc_rows, setting.seed).train;
  SizeStudy study{.verb = std::string(kind.verb),
                  .symbol = std::string(kind.symbol),
                  .batch = setting.batch,
                  .steps = epochs * (disc_rows / setting.batch),
                  .points = {}};
  setting.race.most_steps = study.steps;
  const double share = setting.budget_seconds / static_cast<double>(points.size());
  PeerPool peers;
  for (SizePoint& point : points) {
    progress.within(fmt::format("{} = {}: ", kind.symbol, point.size));
    const TrainingJob job =
        make_job({.network = point.network, .optimizer = setting.optimizer, .batch = setting.batch},
                 disc, setting.seed);
    try {
      point.race = run_race(job, setting.race, share, peers, progress);
      study.points.push_back(std::move(point));
    } catch (const Interrupted&) {
    }
    if (interrupted()) {
      study.interrupted = true;
      break;
    }
  }
  if (study.points.empty()) {
    throw Interrupted();
  }
  return study;
}

Action declare(const StudyKind& kind, CLI::App& app) {
  const auto options = std::make_shared<SizeOptions>();
  begin_group(app, "Networks, trained on the disc set");
  declare_values(app, std::string(kind.option), options->sizes, "LIST", kind.help.data());
  options->race.declare(app);
  options->output.declare(app);
  return [options, &kind](const Invocation& invocation) {
    const std::vector<SizePoint> points = read_sizes(kind, options->sizes);
    const RaceSetting setting = options->race.read();
    if (setting.batch > disc_rows) {
      throw InvalidInput(
          fmt::format("--batch {}: the disc set has {} rows", setting.batch, disc_rows));
    }
    return run_experiment(
        fmt::format("mlp_{}", kind.verb), options->output, invocation,
        [&](Progress& progress) { return size_report(measure(kind, points, setting, progress)); });
  };
}

} // namespace

Action declare_mlp_depth(CLI::App& app) { return declare(depth, app); }
Action declare_mlp_width(CLI::App& app) { return declare(width, app); }

} // namespace diffbench::bench
