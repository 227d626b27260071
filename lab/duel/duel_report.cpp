// SPDX-License-Identifier: Apache-2.0
#include "duel_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "report_json.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

/// A duel with what may be said of it.
struct Judged {
  const Duel* duel;
  Standing standing; ///< without a verdict beside other programs
  std::optional<std::int64_t> blocks_to_decide = {};

  [[nodiscard]] std::size_t blocks() const { return duel->blocks.size(); }
  /// Of each block.
  [[nodiscard]] std::size_t pairs() const { return duel->blocks.front().a.samples.size(); }
  [[nodiscard]] double block_seconds() const {
    return duel->seconds / static_cast<double>(blocks());
  }
  /// Those that would still have to be measured.
  [[nodiscard]] std::optional<double> more_blocks() const {
    return blocks_to_decide ? std::optional(static_cast<double>(*blocks_to_decide) -
                                            static_cast<double>(blocks()))
                            : std::nullopt;
  }
};

/// Of those that have it, the median of something of a side's runs.
template <auto side, typename Of>
Value median(const Judged& judged, Of of) {
  std::vector<double> values;
  for (const Block& block : judged.duel->blocks) {
    if (const std::optional<double> value = of(block.*side, judged.duel->left_out())) {
      values.push_back(*value);
    }
  }
  return values.size() == judged.blocks() ? Value(median_of(values)) : Value();
}

/// Something that is known of a process, and how it is shown.
struct Quantity {
  const char* key;
  const char* label;
  std::string (*unit)(const Value&);
  std::optional<double> (*of)(const SideReading&, std::size_t left_out);
};

std::string as_count(const Value& value) { return format_figure(value.number()); }

bool shows_peaks(const SideReading& reading) {
  return std::ranges::all_of(reading.runs,
                             [](const ProgramRun& run) { return run.peak_bytes.has_value(); });
}

/// The median of whole processes, where there are some.
template <typename Of>
std::optional<double> median_of_runs(const SideReading& reading, Of of) {
  std::vector<double> values;
  std::ranges::transform(reading.runs, std::back_inserter(values), of);
  return values.empty() ? std::nullopt : std::optional(median_of(std::move(values)));
}
template <auto member>
std::optional<double> of_run(const SideReading& reading, std::size_t /*left_out*/) {
  return median_of_runs(reading,
                        [](const ProgramRun& run) { return static_cast<double>(run.*member); });
}
std::optional<double> peak_of_run(const SideReading& reading, std::size_t /*left_out*/) {
  return shows_peaks(reading) ? median_of_runs(reading,
                                               [](const ProgramRun& run) {
                                                 return static_cast<double>(*run.peak_bytes);
                                               })
                              : std::nullopt;
}
std::optional<double> seconds_of(const SideReading& reading, std::size_t left_out) {
  return reading.seconds(left_out);
}

constexpr Quantity quantities[] = {
    {"seconds", "time", as_seconds, seconds_of},
    {"user_seconds", "user", as_seconds, of_run<&ProgramRun::user_seconds>},
    {"system_seconds", "system", as_seconds, of_run<&ProgramRun::system_seconds>},
    {"peak_bytes", "peak memory", as_bytes, peak_of_run},
    {"page_faults", "page faults", as_count, of_run<&ProgramRun::page_faults>},
    {"context_switches", "context switches", as_count, of_run<&ProgramRun::context_switches>},
};

/// A line of the table of quantities.
struct Line {
  const Quantity* quantity;
  Value a, b;
  double ratio = 0; ///< that of the verdict, where it is of the same quantity; else 0
};

/// Two ratios of one time, the other one of its medians, could contradict each other.
Value times_of(const Line& line) {
  if (line.ratio > 0) {
    return line.ratio;
  }
  const double a = line.a.number();
  return a > 0 && !line.b.is_null() ? Value(line.b.number() / a) : Value();
}

std::string shown(const Line& line, const Value& value) {
  return value.is_null() ? no_value : line.quantity->unit(value);
}

constexpr Column<Line> line_columns[] = {
    {nullptr, "median of", as_text, [](const Line& line) -> Value { return line.quantity->label; }},
    {nullptr, "A", as_text, field<&Line::a>, [](const Line& line) { return shown(line, line.a); }},
    {nullptr, "B", as_text, field<&Line::b>, [](const Line& line) { return shown(line, line.b); }},
    {nullptr, "B / A", as_thousandths, times_of},
};

template <auto side>
Value side_json(const Judged& judged) {
  Value object = Value::object();
  for (const Quantity& quantity : quantities) {
    object[quantity.key] = median<side>(judged, quantity.of);
  }
  const std::vector<Block>& blocks = judged.duel->blocks;
  object["failed_runs"] = 0; // none of these counts
  object["samples_seconds"] = Value::each(blocks, [&](const Block& block) -> Value {
    return (block.*side).seconds(judged.duel->left_out());
  });
  const bool several = blocks.front().a.samples.size() > 1;
  object["process_samples_seconds"] =
      several ? Value::each(blocks,
                            [](const Block& block) {
                              return Value::each((block.*side).samples,
                                                 [](double each) -> Value { return each; });
                            })
              : Value();
  return object;
}

template <auto side>
Value seconds_of_side(const Judged& judged) {
  return median<side>(judged, seconds_of);
}

Value warming_json(const Warming& warming) {
  return {{"samples", warming.samples}, {"longer", warming.longer}};
}

constexpr Column<Judged> judged_columns[] = {
    {"blocks", "blocks", as_text, [](const Judged& j) -> Value { return j.blocks(); }},
    {"pairs", nullptr, as_text, [](const Judged& j) -> Value { return j.pairs(); }},
    {"a", nullptr, as_text, side_json<&Block::a>},
    {"b", nullptr, as_text, side_json<&Block::b>},
    {nullptr, "A", as_seconds, seconds_of_side<&Block::a>},
    {nullptr, "B", as_seconds, seconds_of_side<&Block::b>},
    {"ratio", "B / A", as_thousandths, field<&Judged::standing, &Standing::ratio, &Ratio::value>},
    {"interval", "interval",
     [](const Value& interval) {
       return fmt::format("{:.3f} to {:.3f}", interval.find("low").number(),
                          interval.find("high").number());
     },
     field<&Judged::standing, &Standing::ratio, &Ratio::interval, interval_json>},
    {"verdict", "verdict", as_text, field<&Judged::standing, &Standing::verdict>},
    {"warming", nullptr, as_text, field<&Judged::duel, &Duel::warming, warming_json>},
    {"ended_by", nullptr, as_text,
     [](const Judged& j) -> Value { return std::string(duel_ends.name(j.duel->end)); }},
    {"blocks_to_decide", nullptr, as_text, field<&Judged::blocks_to_decide>},
    {"seconds_to_decide", nullptr, as_text,
     [](const Judged& j) -> Value {
       const auto more = j.more_blocks();
       return more ? Value(*more * j.block_seconds()) : Value();
     }},
    {"b_first", nullptr, as_text,
     [](const Judged& j) {
       return Value::each(j.duel->blocks,
                          [](const Block& block) -> Value { return block.first == Side::b; });
     }},
};

std::string margin_text(const DuelCard& card) {
  return fmt::format("{:g} %", 100 * card.rule.margin);
}

/// "B takes 3.1 to 7.2 % longer".
std::string range_text(const Interval& interval) {
  const double low = 100 * (interval.low - 1);
  const double high = 100 * (interval.high - 1);
  if (low >= 0) {
    return fmt::format("B takes {:.1f} to {:.1f} % longer than A", low, high);
  }
  if (high <= 0) {
    return fmt::format("B takes {:.1f} to {:.1f} % less time than A", -high, -low);
  }
  return fmt::format("B takes between {:.1f} % less and {:.1f} % more time than A", -low, high);
}

std::string end_text(DuelEnd end, const DuelCard& card) {
  switch (end) {
    case DuelEnd::verdict: break;
    case DuelEnd::blocks: return fmt::format("--blocks {} ended it", card.most_blocks);
    case DuelEnd::budget: return fmt::format("the budget of {:g} s ended it", card.budget_seconds);
    case DuelEnd::interrupt: return "it was interrupted";
  }
  return "it was decided";
}

/// The limits that are in the way of so many blocks.
std::string limits_to_raise(const Judged& judged, double more, const DuelCard& card) {
  const double seconds = judged.duel->seconds + more * judged.block_seconds();
  const bool budget = judged.duel->end == DuelEnd::budget || seconds > card.budget_seconds;
  const bool blocks = card.most_blocks > 0 && static_cast<double>(judged.blocks()) + more >
                                                  static_cast<double>(card.most_blocks);
  return budget && blocks ? " (--budget and --blocks)"
         : budget         ? " (--budget)"
         : blocks         ? " (--blocks)"
                          : "";
}

/// What ended it, and what would settle it.
std::string remedy(const Judged& judged, const DuelCard& card) {
  const std::string end = end_text(judged.duel->end, card);
  const auto to_come = judged.more_blocks();
  if (!to_come) {
    return fmt::format(
        "{}; the difference lies near the margin of {}, or the times scatter too much: "
        "give another --margin",
        end, margin_text(card));
  }
  const double more = std::max(1.0, *to_come);
  return fmt::format("{}; about {:.0f} more blocks, {}, would decide it{}", end, more,
                     format_seconds(more * judged.block_seconds()),
                     limits_to_raise(judged, more, card));
}

/// Of what has no verdict, but all of its interval on one side of 1.
std::string sure_text(const Interval& interval, const DuelCard& card) {
  if (interval.low <= 1 && interval.high >= 1) {
    return "";
  }
  return fmt::format(
      "; it is surely {}, and only whether by more than the margin of {} (--margin) "
      "is open",
      interval.low > 1 ? "slower" : "faster", margin_text(card));
}

std::string sentence_of(const Judged& judged, const DuelCard& card) {
  const Standing& standing = judged.standing;
  const std::string range = standing.ratio.interval
                                ? range_text(*standing.ratio.interval)
                                : fmt::format("{} {} too few for an interval",
                                              counted(std::ssize(judged.duel->blocks), "block"),
                                              judged.blocks() == 1 ? "is" : "are");
  switch (standing.verdict) {
    case Verdict::slower:
    case Verdict::faster: return fmt::format("{}: {}.", to_string(standing.verdict), range);
    case Verdict::same: return fmt::format("SAME within {}: {}.", margin_text(card), range);
    case Verdict::unclear: break;
  }
  const std::string sure = standing.ratio.interval ? sure_text(*standing.ratio.interval, card) : "";
  return fmt::format("UNCLEAR: {}{}; {}.", range, sure, remedy(judged, card));
}

std::vector<Line> lines_of(const Judged& judged) {
  std::vector<Line> lines;
  const bool whole = judged.duel->blocks.front().a.whole_processes();
  for (const Quantity& quantity : quantities) {
    if (whole || quantity.of == seconds_of) { // nobody knows the others of samples
      lines.push_back({.quantity = &quantity,
                       .a = median<&Block::a>(judged, quantity.of),
                       .b = median<&Block::b>(judged, quantity.of),
                       .ratio = quantity.of == seconds_of ? judged.standing.ratio.value : 0});
    }
  }
  return lines;
}

enum class Verdicts { shown, left_out };

std::string duel_table(const Judged& judged, Verdicts verdicts) {
  constexpr std::size_t interval_column = 4;
  constexpr std::size_t verdict_column = 5;
  TextTable table = table_of(judged_columns);
  table.rename(interval_column,
               fmt::format("{:.4g} % interval", 100 * (1 - judged.standing.alpha)));
  add_row(table, judged_columns, judged);
  if (verdicts == Verdicts::left_out) {
    table.drop(verdict_column);
  }
  table.drop_empty();
  return table.format();
}

template <auto side>
SampleSeries series_of(const Duel& duel, Side name) {
  SampleSeries series{.name = fmt::format("duel/{}", to_string(name)), .samples = {}};
  for (const Block& block : duel.blocks) {
    // Its processor time is no sign of a load: a program may wait for something.
    series.samples.push_back({.iterations = 1,
                              .seconds = (block.*side).seconds(duel.left_out()),
                              .cpu_seconds = {},
                              .round = static_cast<int>(series.samples.size())});
  }
  return series;
}

Outcome outcome_of(const DuelCard& card, const Judged& judged, bool disturbed) {
  const FailOn& fail_on = card.fail_on;
  const Verdict verdict = judged.standing.verdict;
  if (fail_on.slower && verdict == Verdict::slower) {
    return {exit_regression, fmt::format("slower by more than {}: B", margin_text(card))};
  }
  if (fail_on.unclear && (disturbed || verdict == Verdict::unclear)) {
    return {exit_regression,
            disturbed ? "unclear: other programs were running"
                      : fmt::format("unclear: B ({})", end_text(judged.duel->end, card))};
  }
  return {};
}

Value data_of(const DuelCard& card, const Judged& judged) {
  return {{"a", card.a},
          {"b", card.b},
          {"work", card.work ? work_json(*card.work) : Value()},
          {"seed", card.seed},
          {"margin", card.rule.margin},
          {"alpha", card.rule.alpha},
          {"budget_seconds", card.budget_seconds},
          {"most_blocks", card.most_blocks > 0 ? Value(card.most_blocks) : Value()},
          {"results", list_of(judged_columns, std::span(&judged, 1))}};
}

std::string warming_note(const Duel& duel) {
  const Warming& found = *duel.warming;
  return fmt::format(
      "warming up: the first {} of the {} samples of each process {} left out: of the first {} "
      "blocks so many had {} slower than the later ones, in the mean of both sides, that a sign "
      "test shows it at 1 %; the first one by {}",
      found.samples, duel.blocks.front().a.samples.size(), found.samples == 1 ? "is" : "are",
      blocks_of_warming, found.samples == 1 ? "it" : "each of them",
      fmt::format("{:.2g} %", 100 * (found.longer - 1)));
}

std::vector<std::string> notes_of(const DuelCard& card, const Judged& judged) {
  std::vector<std::string> notes = card.notes;
  const bool peaks = std::ranges::all_of(judged.duel->blocks, [](const Block& block) {
    return shows_peaks(block.a) && shows_peaks(block.b);
  });
  if (!peaks) {
    notes.emplace_back(
        "a peak of memory below that of diffbench itself cannot be seen, and is left out");
  }
  if (judged.duel->left_out() > 0) {
    notes.push_back(warming_note(*judged.duel));
  }
  return notes;
}

} // namespace

LabReport duel_report(const DuelCard& card, const Duel& duel, const LoadWatch& load,
                      bool interrupted) {
  const auto disturbance = load.disturbance();
  const bool disturbed = disturbance && !card.beside_load;
  Judged judged{.duel = &duel, .standing = duel.standing};
  if (disturbed) {
    judged.standing.verdict = Verdict::unclear;
  } else {
    judged.blocks_to_decide = values_to_decide(duel.standing, duel.quotients(), card.rule.margin);
  }
  const std::string head =
      fmt::format("A: {}\nB: {}\n{}{} a block, seed of the order: {}\n\n", card.a, card.b,
                  card.work ? fmt::format("each sample: {}\n", to_text(*card.work)) : "",
                  counted(static_cast<std::int64_t>(judged.pairs()), "pair"), card.seed);
  LabReport report;
  report.text = head + duel_table(judged, Verdicts::shown);
  report.figures = head + duel_table(judged, Verdicts::left_out);
  append_table(report, format_rows(line_columns, lines_of(judged)));
  report.sentence = fmt::format(
      "{} Equal programs get FASTER or SLOWER with a probability of {:g} % at most, whenever one "
      "stops.",
      sentence_of(judged, card), 100 * card.rule.alpha);
  report.notes = notes_of(card, judged);
  report.data = data_of(card, judged);
  report.columns = heads_of(judged_columns);
  report.pictures = {
      {"Time of B over A", Figure::bars, "verdict", "ratio", "verdict", "", "results", "interval"},
      {"Times, block by block", Figure::lines, "block", "a.samples_seconds b.samples_seconds"}};
  report.series = {series_of<&Block::a>(duel, Side::a), series_of<&Block::b>(duel, Side::b)};
  report.interrupted = interrupted;
  report.disturbed = disturbed;
  if (disturbance) {
    report.notes.push_back(*disturbance + (disturbed ? ", or conclude beside them: --beside-load"
                                           : duel.decided() ? "; the verdict holds beside them"
                                                            : ""));
  }
  report.load_is_judged = true;
  report.outcome = outcome_of(card, judged, disturbed);
  return report;
}

} // namespace diffbench::bench
