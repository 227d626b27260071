// SPDX-License-Identifier: Apache-2.0
#include "assumed_advice.hpp"

#include "assumed_report.hpp"
#include "assumed_ways.hpp"
#include "columns.hpp"
#include "diffbench/text.hpp"

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
  std::string prefix, backend;
  std::int64_t iterations = 1;
  Assumption steps, warm, cold; ///< seconds
  double device_bytes = 0;
  std::string fits;
};

constexpr Column<AssumedLine> line_columns[] = {
    {"backend", "backend", as_text, field<&AssumedLine::backend>,
     [](const AssumedLine& line) { return assumed_name(line.prefix + line.backend, *line.card); }},
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

/// In the card's memory.
double data_bytes(const AssumedAdvice& assumed) {
  return assumed.work.bytes * assumed.fast.run.cells;
}

/// The card's, by the better warm time.
std::vector<AssumedLine> lines_of(const AssumedAdvice& assumed, const AdviceWords& words) {
  const double bytes = data_bytes(assumed);
  std::vector<AssumedLine> lines;
  for (const AdvisedWay& way : assumed.fast.ways) {
    if (way.device != DeviceKind::cuda) {
      continue;
    }
    const Prediction& fast = way.prediction;
    const Prediction& slow = way_of(assumed.slow, way.backend).prediction;
    lines.push_back({.card = &assumed.card,
                     .prefix = words.row,
                     .backend = way.backend,
                     .iterations = assumed.fast.run.iterations,
                     .steps = {fast.steps_seconds, slow.steps_seconds},
                     .warm = {fast.warm_seconds, slow.warm_seconds},
                     .cold = {fast.cold_seconds, slow.cold_seconds},
                     .device_bytes = bytes,
                     .fits = fits(assumed.card, bytes)});
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
std::string side_text(double side, std::int64_t smallest, const AdviceWords& words) {
  const bool below = side <= static_cast<double>(smallest);
  const double shown = below ? static_cast<double>(smallest) : side;
  return (words.in_cells ? cells_text(shown * shown) + " cells"
                         : fmt::format("{0:.0f}x{0:.0f}", shown)) +
         (below ? " or less" : "");
}

std::string pays_text(const PaysFrom& fast, const PaysFrom& slow, std::int64_t smallest,
                      const AdviceWords& words) {
  const auto side = [&](double cells) { return side_text(cells, smallest, words); };
  const auto count_text = [](std::int64_t count) { return std::to_string(count); };
  return fmt::format("{} at these iterations, {} at this {}", from_text(fast.side, slow.side, side),
                     slow.iterations == 1
                         ? "always"
                         : from_text(fast.iterations, slow.iterations, count_text, " iterations"),
                     words.in_cells ? "size" : "grid");
}

/// How often the field may make a round trip.
std::string stay_text(const PaysFrom& fast, const PaysFrom& slow) {
  if (!fast.stay) {
    return " Even a field that stays on the card would not make it pay.";
  }
  const std::string best = std::to_string(*fast.stay);
  return fmt::format(
      " It pays as long as the field comes back to the host no more often than every {}.",
      !slow.stay       ? fmt::format("{} steps at best; at worst not even where it stays", best)
      : slow.stay == 1 ? std::string("step")
                       : join_ends(best, std::to_string(*slow.stay)) + " steps");
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
          {"iterations", {{"low", fast.iterations}, {"high", slow.iterations}}},
          {"steps_between_round_trips", {{"low", fast.stay}, {"high", slow.stay}}}};
}

/// A part of a warm run of the fastest way, at the one end and at the other.
struct PartLine {
  const AssumedCard* card;
  std::string part;
  Assumption seconds;
  double best_share, worst_share; ///< at either end; the one may be more than the other

  [[nodiscard]] Assumption share() const { return span_between(best_share, worst_share); }
};

constexpr Column<PartLine> part_columns[] = {
    {"part", "a warm run goes to", as_text, field<&PartLine::part>,
     [](const PartLine& line) { return assumed_name(line.part, *line.card); }},
    {"assumed", nullptr, as_text, field<&PartLine::card, &AssumedCard::id>},
    {"seconds", "time", as_seconds_span, field<&PartLine::seconds, span_json>},
    {"share", nullptr, as_text, [](const PartLine& line) { return span_json(line.share()); }},
    {"share_at_best", "share at best", as_percent, field<&PartLine::best_share>},
    {"share_at_worst", "at worst", as_percent, field<&PartLine::worst_share>},
};

WarmParts parts_at(const AssumedAdvice& assumed, const Advice& advice, AssumedEnd::Bound bound) {
  const AdvisedWay& best = *fastest(advice, RunKind::warm, DeviceKind::cuda);
  const AssumedEnd end(assumed.card, assumed.work, bound);
  return warm_parts(end, best.backend, best.prediction, advice.run);
}

std::vector<PartLine> parts_of(const AssumedAdvice& assumed) {
  const WarmParts fast = parts_at(assumed, assumed.fast, AssumedEnd::Bound::fast);
  const WarmParts slow = parts_at(assumed, assumed.slow, AssumedEnd::Bound::slow);
  std::vector<PartLine> lines;
  for (const auto& [name, part] : {std::pair{"copies of the field", &WarmParts::copies},
                                   std::pair{"launches and the wait", &WarmParts::launches},
                                   std::pair{"memory traffic", &WarmParts::memory},
                                   std::pair{"instructions", &WarmParts::instructions}}) {
    const Assumption seconds = span_between(fast.*part, slow.*part);
    if (seconds.high > 0) {
      lines.push_back({.card = &assumed.card,
                       .part = name,
                       .seconds = seconds,
                       .best_share = fast.*part / fast.all(),
                       .worst_share = slow.*part / slow.all()});
    }
  }
  return lines;
}

/// The largest part.
struct Ruling {
  std::string best, worst;
};

Ruling ruling_of(std::span<const PartLine> parts) {
  return {.best = std::ranges::max(parts, {}, &PartLine::best_share).part,
          .worst = std::ranges::max(parts, {}, &PartLine::worst_share).part};
}

std::string ruling_text(const Ruling& by) {
  return by.best == by.worst ? fmt::format(" Its time is ruled by {}.", by.best)
                             : fmt::format(" Its time is ruled by {} at best and by {} at worst.",
                                           by.best, by.worst);
}

/// When the GPU pays, and whether it is ten times as fast.
struct Answers {
  std::string sentence;
  Value json;
};

Answers answers_of(const AssumedAdvice& assumed, const Advice& measured,
                   std::span<const AssumedLine> lines, std::span<const PartLine> parts,
                   const CostProfile& profile, const AdviceWords& words) {
  const double bytes = data_bytes(assumed);
  // Which is the fastest may differ between the ends.
  const Assumption warm{
      std::ranges::min(lines, {}, [](const auto& l) { return l.warm.low; }).warm.low,
      std::ranges::min(lines, {}, [](const auto& l) { return l.warm.high; }).warm.high};
  const AdvisedWay* cpu = fastest(measured, RunKind::warm, DeviceKind::cpu);
  Answers answers{.sentence = fmt::format("Assumed, not measured ({}): {}.", assumed.card.id,
                                          fit_text(assumed.card, bytes, words.what)),
                  .json = nullptr};
  if (fits(assumed.card, bytes) == "no") {
    return answers;
  }
  const std::string takes =
      fmt::format(" A warm run would take {}", as_seconds_span(span_json(warm)));
  if (cpu == nullptr) {
    answers.sentence += takes + ".";
    return answers;
  }
  const Assumption times = times_as_fast(cpu->prediction.warm_seconds, warm);
  const Ruling ruling = ruling_of(parts);
  const std::int64_t smallest = smallest_grid(profile);
  answers.sentence += fmt::format("{}, {}.{} The GPU would pay {}; in cold runs {}.{}", takes,
                                  worth_text(times, cpu->backend + words.from), ruling_text(ruling),
                                  pays_text(assumed.fast.warm, assumed.slow.warm, smallest, words),
                                  pays_text(assumed.fast.cold, assumed.slow.cold, smallest, words),
                                  stay_text(assumed.fast.warm, assumed.slow.warm));
  answers.json = {{"times_as_fast", span_json(times)},
                  {"against", cpu->backend},
                  {"worth_it", worth_json(times)},
                  {"ruled_by", {{"low", ruling.best}, {"high", ruling.worst}}},
                  {"parts", list_of(part_columns, parts)},
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

std::string cells_text(double cells) {
  std::string text = fmt::format("{:.3g}", cells);
  const std::size_t exponent = text.find("e+");
  if (exponent == std::string::npos) {
    return text;
  }
  if (cells < 1e6) {
    return fmt::format("{:.0f}", parse_number<double>(text).value_or(cells));
  }
  text.erase(exponent + 1, text[exponent + 2] == '0' ? 2 : 1);
  return text;
}

AssumedAdvice assume_advice(const AssumedCard& card, std::span<const WayCost> ways,
                            const CellWork& work, const RunShape& run) {
  std::vector<WayCost> fast;
  std::ranges::copy_if(ways, std::back_inserter(fast),
                       [](const WayCost& way) { return way.device == DeviceKind::cpu; });
  std::vector<WayCost> slow = fast;
  for (AssumedWay& way : assumed_ways(card, work, Transfer::pinned)) {
    fast.push_back(std::move(way.fast));
    slow.push_back(std::move(way.slow));
  }
  return {.card = card, .work = work, .fast = advise(fast, run), .slow = advise(slow, run)};
}

void append_assumed(LabReport& report, const AssumedAdvice& assumed, const Advice& measured,
                    const CostProfile& profile, const AdviceWords& words) {
  const std::vector<AssumedLine> lines = lines_of(assumed, words);
  const auto checks = checks_of(lines, measured);
  if (is_such(assumed.card, profile.gpu) && !checks.empty()) {
    append_checks(report, assumed.card, checks);
    return;
  }
  const std::vector<PartLine> parts = parts_of(assumed);
  const Answers answers = answers_of(assumed, measured, lines, parts, profile, words);
  append_table(report, assumed_title(assumed.card) + format_rows(line_columns, lines));
  append_table(report, assumed_title(assumed.card) + format_rows(part_columns, parts));
  report.found_in_data.insert(report.found_in_data.end(), {"assumed.answers", "assumed.sentence"});
  report.sentence += (report.sentence.empty() ? "" : "\n") + answers.sentence;
  report.data["assumed"] = {{"card", assumed.card.id},
                            {"name", assumed.card.name},
                            {"rows", list_of(line_columns, lines)},
                            {"answers", answers.json},
                            {"sentence", answers.sentence}};
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
