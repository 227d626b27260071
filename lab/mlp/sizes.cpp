// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "planning.hpp"
#include "units.hpp"
#include "value_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::int64_t disc_rows = 1000;
constexpr std::int64_t epochs = 100;
/// A crossing lies between two.
constexpr std::size_t least_points = 2;
constexpr Limits size_limits{1, 1 << 14};

/// What tells the two verbs apart.
struct StudyKind {
  std::string_view verb, symbol, usage, sizes, help;

  [[nodiscard]] std::string_view option() const { return usage.substr(0, usage.find(' ')); }
  mlp::Network (*network)(std::int64_t size);
};

mlp::Network twice_as_wide(std::int64_t width) { return mlp::Network({2, width, width, 2}); }

constexpr StudyKind depth{"depth",
                          "T",
                          "--last LIST",
                          "4:4096:x2",
                          "widths of the last hidden layer, powers of 2",
                          mlp::doubling_network};
constexpr StudyKind width{"width",
                          "N",
                          "--hidden LIST",
                          "10,20,50,100,200,500,1000,2000,4000",
                          "widths of both hidden layers",
                          twice_as_wide};

struct SizeOptions {
  std::string sizes;
  std::vector<SizePoint> points;
  RaceSetting race;
  LabOutput output;
};

std::vector<int> ends_of(int least, int most) {
  return most > least ? std::vector<int>{least, most} : std::vector<int>{least};
}

/// The networks to race on, smallest first.
std::vector<SizePoint> read_sizes(const StudyKind& kind, const std::string& text) {
  std::vector<SizePoint> points;
  for (const std::int64_t size : parse_integers(kind.option(), text, size_limits)) {
    points.push_back({.size = size,
                      .network = parse_as(kind.option(), std::to_string(size),
                                          [&](const std::string&) { return kind.network(size); }),
                      .race = {}});
  }
  return points;
}

/// What verifying all rows takes grows with the operations of a step, from the last two sizes on.
class VerifySeconds {
 public:
  void add(double flops, double seconds) {
    if (flops > flops_) {
      slope_ = flops_ == 0 ? 0 : std::max(0.0, (seconds - seconds_) / (flops - flops_));
      flops_ = flops;
    }
    seconds_ = seconds;
  }
  [[nodiscard]] double expected(double flops) const {
    return seconds_ + slope_ * std::max(0.0, flops - flops_);
  }

 private:
  double flops_ = 0, seconds_ = 0, slope_ = 0; ///< of the last
};

SizeStudy measure(const StudyKind& kind, std::vector<SizePoint> points, RaceSetting setting,
                  Progress& progress) {
  const mlp::DataSet disc = mlp::disc_set(disc_rows, setting.seed).train;
  SizeStudy study{.verb = std::string(kind.verb),
                  .symbol = std::string(kind.symbol),
                  .batch = setting.batch,
                  .steps = epochs * (disc_rows / setting.batch),
                  .quality = setting.race.quality,
                  .points = {}};
  setting.race.most_steps = study.steps;
  const Stopwatch<> watch;
  PeerPool peers;
  std::size_t waiting = points.size();
  const double equal_share = setting.budget_seconds / static_cast<double>(waiting);
  VerifySeconds verify;
  for (SizePoint& point : points) {
    const double flops = point.network.flops_per_step(setting.batch);
    const double left = setting.budget_seconds - watch.seconds();
    if (setting.race.budget_binds && study.points.size() >= least_points &&
        verify.expected(flops) > left) {
      study.left_out = fmt::format(
          "{} from {} on left out: to verify it would take longer than "
          "what is left of --budget",
          kind.symbol, point.size);
      break;
    }
    const double share = setting.race.budget_binds
                             ? std::max(0.0, left) / static_cast<double>(waiting--)
                             : equal_share;
    progress.within(fmt::format("{} = {}: ", kind.symbol, point.size));
    const TrainingJob job =
        make_job({.network = point.network, .optimizer = setting.optimizer, .batch = setting.batch},
                 disc, setting.seed);
    try {
      const Stopwatch<> of_point;
      point.race = run_race(job, setting.race, share, peers, progress);
      verify.add(flops, of_point.seconds() - point.race.timed_seconds);
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

Action declare(const StudyKind& kind, OptionList& options) {
  const auto state = std::make_shared<SizeOptions>();
  options.group("Networks, trained on the disc set");
  options.values(kind.usage, described(kind.help, to_string(size_limits), kind.sizes),
                 [&sizes = state->sizes](std::string_view, const std::string& text) {
                   sizes += (sizes.empty() ? "" : ",") + text;
                 });
  options.check([&state = *state, &kind] {
    state.points = read_sizes(kind, state.sizes.empty() ? std::string(kind.sizes) : state.sizes);
  });
  declare_race(options, state->race, "all but scalar", "1, and the usable CPUs");
  options.check([&setting = state->race] {
    if (setting.batch > disc_rows) {
      throw InvalidInput(
          fmt::format("--batch {}: the disc set has {} rows", setting.batch, disc_rows));
    }
  });
  state->output.declare(options);
  return [state, &kind](const Invocation& invocation) {
    choose_engines(state->race);
    if (state->race.race.threads.empty()) { // all rows with the same, as a crossover wants it
      state->race.race.threads = ends_of(1, usable_cpus());
    }
    std::vector<mlp::Network> networks;
    std::ranges::transform(state->points, std::back_inserter(networks), &SizePoint::network);
    const RaceSetting& race = state->race;
    state->output.expect(expected_seconds(race, networks),
                         fmt::format("{}, {}", counted(std::ssize(networks), "network"),
                                     limit_text(race.budget_seconds, race.race.budget_binds)),
                         race.race.budget_binds);
    return run_experiment(fmt::format("mlp_{}", kind.verb), state->output, invocation,
                          [&](Progress& progress) {
                            return size_report(measure(kind, state->points, state->race, progress));
                          });
  };
}

} // namespace

Action declare_mlp_depth(OptionList& options) { return declare(depth, options); }
Action declare_mlp_width(OptionList& options) { return declare(width, options); }

} // namespace diffbench::bench
