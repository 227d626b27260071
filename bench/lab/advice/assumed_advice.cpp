// SPDX-License-Identifier: Apache-2.0
#include "assumed_advice.hpp"

#include "assumed_report.hpp"
#include "assumed_ways.hpp"
#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

/// A way of the card.
struct AssumedLine {
  const AssumedCard* card;
  std::string backend;
  std::int64_t iterations = 1;
  Assumption steps, warm, cold; ///< seconds
  double device_bytes = 0;
  std::string fits;
};

constexpr Column<AssumedLine> line_columns[] = {
    {"backend", "backend", as_text, field<&AssumedLine::backend>,
     [](const AssumedLine& line) { return assumed_name(line.backend, *line.card); }},
    {"assumed", nullptr, as_text, field<&AssumedLine::card, &AssumedCard::id>},
    {"steps_seconds", nullptr, as_seconds_span, field<&AssumedLine::steps, span_json>},
    {nullptr, "time/iter", as_seconds_span,
     [](const AssumedLine& line) {
       const auto count = static_cast<double>(line.iterations);
       return span_json({line.steps.low / count, line.steps.high / count});
     }},
    {"warm_seconds", "warm run", as_seconds_span, field<&AssumedLine::warm, span_json>},
    {"cold_seconds", "cold run", as_seconds_span, field<&AssumedLine::cold, span_json>},
    {"device_bytes", "device memory", as_bytes, field<&AssumedLine::device_bytes>},
    {"fits_card", "fits", as_text, field<&AssumedLine::fits>},
};

const AdvisedWay& way_of(const Advice& advice, const std::string& backend) {
  return *std::ranges::find_if(advice.ways, [&](const AdvisedWay& way) {
    return way.device == DeviceKind::cuda && way.backend == backend;
  });
}

/// The card's, by the better warm time.
std::vector<AssumedLine> lines_of(const AssumedAdvice& assumed, const Problem& problem) {
  std::vector<AssumedLine> lines;
  for (const AdvisedWay& way : assumed.fast.ways) {
    if (way.device != DeviceKind::cuda) {
      continue;
    }
    const Prediction& fast = way.prediction;
    const Prediction& slow = way_of(assumed.slow, way.backend).prediction;
    lines.push_back({.card = &assumed.card,
                     .backend = way.backend,
                     .iterations = assumed.fast.run.iterations,
                     .steps = {fast.steps_seconds, slow.steps_seconds},
                     .warm = {fast.warm_seconds, slow.warm_seconds},
                     .cold = {fast.cold_seconds, slow.cold_seconds},
                     .device_bytes = device_bytes(problem),
                     .fits = fits(assumed.card, problem)});
  }
  return lines;
}

/// "from 96x96 to 180x180 on", "from 1 to 7 iterations on", with what `text` makes of a size.
template <typename Size, typename Text>
std::string from_text(const std::optional<Size>& fast, const std::optional<Size>& slow, Text text,
                      const std::string& unit = "") {
  if (!fast) {
    return "nowhere";
  }
  return slow ? fmt::format("from {}{} on", join_ends(text(*fast), text(*slow)), unit)
              : fmt::format("from {}{} on at best and nowhere at worst", text(*fast), unit);
}

/// Below the `smallest` grid of the profile the CPU's times are that one's.
std::string pays_text(const PaysFrom& fast, const PaysFrom& slow, std::int64_t smallest) {
  const auto side_text = [&](double side) {
    return side <= static_cast<double>(smallest) ? fmt::format("{0}x{0} or less", smallest)
                                                 : fmt::format("{0:.0f}x{0:.0f}", side);
  };
  const auto count_text = [](std::int64_t count) { return std::to_string(count); };
  return fmt::format("{} at these iterations, {} at this grid",
                     from_text(fast.side, slow.side, side_text),
                     slow.iterations == 1
                         ? "always"
                         : from_text(fast.iterations, slow.iterations, count_text, " iterations"));
}

std::int64_t smallest_grid(const CostProfile& profile) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const WayCost& way : profile.ways) {
    smallest = std::min(smallest, way.grids.front().side);
  }
  return smallest;
}

Value pays_json(const PaysFrom& fast, const PaysFrom& slow) {
  return {{"grid_side", {{"low", fast.side}, {"high", slow.side}}},
          {"iterations", {{"low", fast.iterations}, {"high", slow.iterations}}}};
}

/// When the GPU pays, and whether it is ten times as fast.
struct Answers {
  std::string sentence;
  Value json;
};

Answers answers_of(const AssumedAdvice& assumed, const Advice& measured,
                   std::span<const AssumedLine> lines, const CostProfile& profile,
                   const Problem& problem) {
  // Which is the fastest may differ between the ends.
  const Assumption warm{
      std::ranges::min(lines, {}, [](const auto& l) { return l.warm.low; }).warm.low,
      std::ranges::min(lines, {}, [](const auto& l) { return l.warm.high; }).warm.high};
  const AdvisedWay* cpu = fastest(measured, RunKind::warm, DeviceKind::cpu);
  Answers answers{.sentence = fmt::format("Assumed, not measured ({}): {}.", assumed.card.id,
                                          fit_text(assumed.card, problem)),
                  .json = nullptr};
  if (fits(assumed.card, problem) == "no") {
    return answers;
  }
  const std::string takes =
      fmt::format(" A warm run would take {}", as_seconds_span(span_json(warm)));
  if (cpu == nullptr) {
    answers.sentence += takes + ".";
    return answers;
  }
  const Assumption times = times_as_fast(cpu->prediction.warm_seconds, warm);
  answers.sentence +=
      fmt::format("{}, {}. The GPU would pay {}; in cold runs {}.", takes,
                  worth_text(times, fmt::format("{} by the profile", cpu->backend)),
                  pays_text(assumed.fast.warm, assumed.slow.warm, smallest_grid(profile)),
                  pays_text(assumed.fast.cold, assumed.slow.cold, smallest_grid(profile)));
  answers.json = {{"times_as_fast", span_json(times)},
                  {"against", cpu->backend},
                  {"worth_it", worth_json(times)},
                  {"gpu_pays_from",
                   {{"warm", pays_json(assumed.fast.warm, assumed.slow.warm)},
                    {"cold", pays_json(assumed.fast.cold, assumed.slow.cold)}}}};
  return answers;
}

/// What such a card really took, by the profile.
std::vector<AssumptionCheck> checks_of(std::span<const AssumedLine> lines, const Advice& measured) {
  std::vector<AssumptionCheck> checks;
  for (const AssumedLine& line : lines) {
    for (const AdvisedWay& way : measured.ways) {
      if (way.device == DeviceKind::cuda && way.backend == line.backend) {
        checks.push_back({line.backend, "warm", line.warm, way.prediction.warm_seconds});
        checks.push_back({line.backend, "cold", line.cold, way.prediction.cold_seconds});
      }
    }
  }
  return checks;
}

} // namespace

AssumedAdvice assume_advice(const AssumedCard& card, std::span<const WayCost> ways,
                            const Problem& problem, const RunShape& run) {
  std::vector<WayCost> fast;
  std::ranges::copy_if(ways, std::back_inserter(fast),
                       [](const WayCost& way) { return way.device == DeviceKind::cpu; });
  std::vector<WayCost> slow = fast;
  for (AssumedWay& way : assumed_ways(card, problem.dtype, Transfer::pinned)) {
    fast.push_back(std::move(way.fast));
    slow.push_back(std::move(way.slow));
  }
  return {.card = card, .fast = advise(fast, run), .slow = advise(slow, run)};
}

void append_assumed(LabReport& report, const AssumedAdvice& assumed, const Advice& measured,
                    const CostProfile& profile, const Problem& problem) {
  const std::vector<AssumedLine> lines = lines_of(assumed, problem);
  const auto checks = checks_of(lines, measured);
  if (is_such(assumed.card, profile.gpu) && !checks.empty()) {
    append_checks(report, assumed.card, checks);
    return;
  }
  const Answers answers = answers_of(assumed, measured, lines, profile, problem);
  append_table(report, assumed_title(assumed.card) + format_rows(line_columns, lines));
  report.found_in_data.insert(report.found_in_data.end(), {"assumed.answers", "assumed.sentence"});
  report.sentence += "\n" + answers.sentence;
  report.data["assumed"] = {{"card", assumed.card.id},
                            {"name", assumed.card.name},
                            {"rows", list_of(line_columns, lines)},
                            {"answers", answers.json},
                            {"sentence", answers.sentence}};
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
