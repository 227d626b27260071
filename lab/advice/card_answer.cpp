// SPDX-License-Identifier: Apache-2.0
#include "card_answer.hpp"

#include "columns.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

/// Sizes that are tried lie so close: 2^(1/8) is 9 %, less than what is assumed leaves open.
const double size_step = std::exp2(1.0 / 8);
constexpr double smallest_side = 16, largest_side = 65536, most_steps = 1e7;

double cpu_step(std::span<const CpuStep> points, double cells) {
  const auto above = std::ranges::lower_bound(points, cells, {}, &CpuStep::cells);
  if (above == points.begin()) {
    return above->seconds;
  }
  const CpuStep& low = *(above - 1);
  if (above == points.end()) {
    return low.seconds * cells / low.cells;
  }
  const double fraction = std::log(cells / low.cells) / std::log(above->cells / low.cells);
  return low.seconds * std::pow(above->seconds / low.seconds, fraction);
}

std::vector<std::string_view> backends_of(const CellWork& work) {
  std::vector<std::string_view> names{"cuda_stream", "cuda_graph"};
  if (work.per_launch > 1) {
    names.emplace_back("cuda");
  }
  return names;
}

/// At which size the card begins to pay; empty: at none. At the better end and at the worse.
struct From {
  std::optional<double> low, high;
};

class Answer {
 public:
  Answer(const AssumedCard& card, const AdvisedRun& run, std::span<const CpuStep> cpu)
      : card_(card), run_(run), cpu_(cpu) {}

  [[nodiscard]] From side(bool cold) const {
    return first(smallest_side, largest_side, cold, [&](double side) {
      AdvisedRun other = run_;
      other.cells = side * side;
      return other;
    });
  }
  [[nodiscard]] From steps(bool cold) const {
    return first(1, most_steps, cold, [&](double steps) {
      AdvisedRun other = run_;
      other.steps = std::round(steps);
      other.trips = std::max(1.0, run_.trips * other.steps / run_.steps);
      return other;
    });
  }
  /// Steps between two round trips of the field.
  [[nodiscard]] From stay() const {
    return first(1, run_.steps, false, [&](double steps) {
      AdvisedRun other = run_;
      other.trips = std::max(1.0, run_.steps / std::round(steps));
      return other;
    });
  }

 private:
  /// The fastest backend, at each end.
  [[nodiscard]] Assumption seconds(const AdvisedRun& run, bool cold) const {
    Assumption best{HUGE_VAL, HUGE_VAL};
    for (const std::string_view backend : backends_of(run.work)) {
      const CardRun one{
          .backend = backend, .cells = run.cells, .steps = run.steps, .trips = run.trips};
      const Bill bill = bill_of(card_, one, run.work);
      const Assumption& own = cold ? bill.seconds : bill.warm;
      best = {std::min(best.low, own.low), std::min(best.high, own.high)};
    }
    return best;
  }
  /// The smallest size from which it pays at all larger ones that are tried.
  template <typename Run>
  [[nodiscard]] From first(double low, double high, bool cold, Run run) const {
    From from;
    bool at_best = true, at_worst = true;
    for (double size = high; size >= low && at_best; size /= size_step) {
      const AdvisedRun other = run(size);
      const double cpu = other.steps * cpu_step(cpu_, other.cells);
      const Assumption card = seconds(other, cold);
      at_best = card.low < cpu;
      at_worst = at_worst && card.high < cpu;
      from.low = at_best ? std::optional(size) : from.low;
      from.high = at_worst ? std::optional(size) : from.high;
    }
    return from;
  }

  const AssumedCard& card_;
  const AdvisedRun& run_;
  std::span<const CpuStep> cpu_;
};

/// "from 96x96 to 180x180 on", with what `text` makes of a size.
template <typename Text>
std::string from_text(const From& from, Text text, const char* unit = "") {
  if (!from.low) {
    return "nowhere";
  }
  return from.high
             ? fmt::format("from {}{} on", join_ends(text(*from.low), text(*from.high)), unit)
             : fmt::format("from {}{} on at best and nowhere at worst", text(*from.low), unit);
}

std::string count_text(double count) { return fmt::format("{:.0f}", count); }

/// Three digits of them: "10600", "1.48e6".
std::string cells_text(double cells) {
  return cells < 1e6
             ? fmt::format("{:.0f}", cells)
             : fmt::format("{:.3g}e{:.0f}", cells / std::pow(10, std::floor(std::log10(cells))),
                           std::floor(std::log10(cells)));
}

std::string pays_text(const Answer& answer, const AdvisedRun& run, double smallest, bool cold) {
  const auto side_text = [&](double side) {
    const bool below = side * side <= smallest;
    const double shown = below ? std::sqrt(smallest) : side;
    return (run.in_cells ? cells_text(shown * shown) + " cells"
                         : fmt::format("{0:.0f}x{0:.0f}", shown)) +
           (below ? " or less" : "");
  };
  const From steps = answer.steps(cold);
  const bool always = steps.high && std::round(*steps.high) == 1;
  return fmt::format("{} at these iterations, {} at this {}",
                     from_text(answer.side(cold), side_text),
                     always ? "always" : from_text(steps, count_text, " iterations"),
                     run.in_cells ? "size" : "grid");
}

std::string stay_text(const From& stay) {
  if (!stay.low) {
    return " Even a field that stays on the card would not make it pay.";
  }
  const std::string best = count_text(*stay.low);
  return fmt::format(
      " It pays as long as the field comes back to the host no more often than every {}.",
      !stay.high ? fmt::format("{} steps at best; at worst not even where it stays", best)
      : std::round(*stay.high) == 1 ? std::string("step")
                                    : join_ends(best, count_text(*stay.high)) + " steps");
}

Value json_of(const From& from) { return {{"low", from.low}, {"high", from.high}}; }

} // namespace

void append_answer(LabReport& report, const AssumedCard& card, const AdvisedRun& run,
                   std::span<const CpuStep> cpu, AssumedRuns shown,
                   const ComparisonResult& measured) {
  for (const std::string_view backend : backends_of(run.work)) {
    const CardRun one{
        .backend = backend, .cells = run.cells, .steps = run.steps, .trips = run.trips};
    shown.runs.push_back(assume(card, run.like + std::string(backend), one, run.work));
  }
  const Answer answer(card, run, cpu);
  if (shown.rival) {
    shown.answer =
        fmt::format(" The GPU would pay {}; in cold runs {}.{}",
                    pays_text(answer, run, cpu.front().cells, false),
                    pays_text(answer, run, cpu.front().cells, true), stay_text(answer.stay()));
  }
  append_assumed(report, shown, measured);
  if (shown.rival && !report.data.find("assumed.rows").is_null()) {
    report.found_in_data.emplace_back("assumed.gpu_pays_from");
    report.data.at_path("assumed.gpu_pays_from") = {
        {"warm",
         {{"grid_side", json_of(answer.side(false))},
          {"iterations", json_of(answer.steps(false))}}},
        {"cold",
         {{"grid_side", json_of(answer.side(true))}, {"iterations", json_of(answer.steps(true))}}},
        {"steps_between_round_trips", json_of(answer.stay())}};
  }
}

} // namespace diffbench::bench
