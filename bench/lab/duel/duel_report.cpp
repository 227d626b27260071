#include "duel_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "context.hpp"
#include "history.hpp"
#include "report_json.hpp"
#include "result_file.hpp"
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

/// A duel with what it came to.
struct Judged {
  const Duel* duel;
  Standing standing;

  [[nodiscard]] std::size_t blocks() const { return duel->blocks.size(); }
  [[nodiscard]] double block_seconds() const {
    return duel->seconds / static_cast<double>(blocks());
  }
  /// Those that would still have to be measured.
  [[nodiscard]] std::optional<double> more_blocks() const {
    const auto wanted = standing.blocks_to_decide;
    return wanted ? std::optional(static_cast<double>(*wanted) - static_cast<double>(blocks()))
                  : std::nullopt;
  }
};

/// Of those that have it, the median of something of a side's runs.
template <auto side, typename Of>
Value median(const Judged& judged, Of of) {
  std::vector<double> values;
  for (const Block& block : judged.duel->blocks) {
    if (const std::optional<double> value = of(block.*side)) {
      values.push_back(*value);
    }
  }
  return values.size() == judged.blocks() ? Value(median_of(values)) : Value();
}

/// Something that is known of a run, and how it is shown.
struct Quantity {
  const char* key;
  const char* label;
  std::string (*unit)(const Value&);
  std::optional<double> (*of)(const Reading&);
};

std::string as_count(const Value& value) { return format_figure(value.number()); }

constexpr Quantity quantities[] = {
    {"seconds", "time", as_seconds, [](const Reading& r) { return std::optional(r.seconds); }},
    {"user_seconds", "user", as_seconds,
     [](const Reading& r) { return std::optional(r.run.user_seconds); }},
    {"system_seconds", "system", as_seconds,
     [](const Reading& r) { return std::optional(r.run.system_seconds); }},
    {"peak_bytes", "peak memory", as_bytes,
     [](const Reading& r) {
       return r.run.peak_bytes ? std::optional(static_cast<double>(*r.run.peak_bytes))
                               : std::nullopt;
     }},
    {"page_faults", "page faults", as_count,
     [](const Reading& r) { return std::optional(static_cast<double>(r.run.page_faults)); }},
    {"context_switches", "context switches", as_count,
     [](const Reading& r) { return std::optional(static_cast<double>(r.run.context_switches)); }},
};

/// A line of the table of quantities.
struct Line {
  std::string label;
  const Quantity* quantity;
  Value a, b;
};

Value times_of(const Line& line) {
  const double a = line.a.number();
  return a > 0 && !line.b.is_null() ? Value(line.b.number() / a) : Value();
}

std::string shown(const Line& line, const Value& value) {
  return value.is_null() ? no_value : line.quantity->unit(value);
}

constexpr Column<Line> line_columns[] = {
    {nullptr, "median of", as_text, field<&Line::label>},
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
  const auto failed = std::ranges::count_if(
      judged.duel->blocks, [](const Block& block) { return (block.*side).run.status != 0; });
  object["failed_runs"] = failed;
  object["samples_seconds"] = Value::each(
      judged.duel->blocks, [](const Block& block) -> Value { return (block.*side).seconds; });
  return object;
}

template <auto side>
Value seconds_of_side(const Judged& judged) {
  return median<side>(judged, [](const Reading& r) { return std::optional(r.seconds); });
}

constexpr Column<Judged> judged_columns[] = {
    {"label", "with", as_text, [](const Judged& j) { return or_null(j.duel->label); }},
    {"blocks", "blocks", as_text, [](const Judged& j) -> Value { return j.blocks(); }},
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
    {"blocks_to_decide", nullptr, as_text, field<&Judged::standing, &Standing::blocks_to_decide>},
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

std::string percent_text(double fraction) { return fmt::format("{:.2g} %", 100 * fraction); }

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

/// What would settle it.
std::string remedy(const Judged& judged, const Question& question) {
  const auto more = judged.more_blocks();
  if (!more) {
    return fmt::format(
        "the difference lies near the margin of {}, or the times scatter too much: "
        "give another --margin",
        percent_text(question.margin));
  }
  return fmt::format("about {:.0f} more blocks, {}, would decide it (--budget)",
                     std::max(1.0, *more),
                     format_seconds(std::max(1.0, *more) * judged.block_seconds()));
}

std::string sentence_of(const Judged& judged, const Question& question) {
  const Standing& standing = judged.standing;
  const std::string with =
      judged.duel->label.empty() ? "" : fmt::format(" with {}", judged.duel->label);
  const std::string range = standing.ratio.interval
                                ? range_text(*standing.ratio.interval)
                                : fmt::format("{} are too few for an interval",
                                              counted(std::ssize(judged.duel->blocks), "block"));
  switch (standing.verdict) {
    case Verdict::slower:
    case Verdict::faster: return fmt::format("{}{}: {}.", to_string(standing.verdict), with, range);
    case Verdict::same:
      return fmt::format("SAME{} within {}: {}.", with, percent_text(question.margin), range);
    case Verdict::unclear: break;
  }
  return fmt::format("UNCLEAR{}: {}; {}.", with, range, remedy(judged, question));
}

std::vector<Line> lines_of(std::span<const Judged> all) {
  std::vector<Line> lines;
  for (const Judged& judged : all) {
    const std::string& label = judged.duel->label;
    for (const Quantity& quantity : quantities) {
      lines.push_back(
          {.label = label.empty() ? quantity.label : fmt::format("{}, {}", quantity.label, label),
           .quantity = &quantity,
           .a = median<&Block::a>(judged, quantity.of),
           .b = median<&Block::b>(judged, quantity.of)});
    }
  }
  return lines;
}

enum class Verdicts { shown, left_out };

std::string duel_table(std::span<const Judged> all, double confidence, Verdicts verdicts) {
  constexpr std::size_t interval_column = 5;
  constexpr std::size_t verdict_column = 6;
  TextTable table = table_of(judged_columns);
  table.rename(interval_column, fmt::format("{:g} % interval", 100 * confidence));
  for (const Judged& judged : all) {
    add_row(table, judged_columns, judged);
  }
  if (verdicts == Verdicts::left_out) {
    table.drop(verdict_column);
  }
  table.drop_empty();
  if (all.front().duel->label.empty()) {
    table.drop(0);
  }
  return table.format();
}

std::vector<SampleSeries> series_of(std::span<const Judged> all) {
  std::vector<SampleSeries> series;
  const auto add = [&](const Judged& judged, Side side) {
    const std::string& label = judged.duel->label;
    SampleSeries samples{
        .name = fmt::format("duel/{}{}{}", to_string(side), label.empty() ? "" : "/", label),
        .samples = {}};
    for (const Block& block : judged.duel->blocks) {
      // Its processor time is no sign of a load: a program may wait for something.
      samples.samples.push_back({.iterations = 1,
                                 .seconds = (side == Side::a ? block.a : block.b).seconds,
                                 .cpu_seconds = {},
                                 .round = static_cast<int>(samples.samples.size())});
    }
    series.push_back(std::move(samples));
  };
  for (const Judged& judged : all) {
    add(judged, Side::a);
    add(judged, Side::b);
  }
  return series;
}

std::vector<HistoryEntry> history_of(const DuelCard& card, std::span<const Judged> all,
                                     bool disturbed) {
  const Facts facts = run_context();
  std::vector<HistoryEntry> entries;
  for (const Judged& judged : all) {
    entries.push_back({.row = {.a = card.a,
                               .b = card.b,
                               .label = judged.duel->label,
                               .host = host_name(),
                               .cpu = std::string(fact(facts, "cpu_model"))},
                       .date = now_iso8601(),
                       .blocks = std::ssize(judged.duel->blocks),
                       .a_seconds = seconds_of_side<&Block::a>(judged).number(),
                       .b_seconds = seconds_of_side<&Block::b>(judged).number(),
                       .ratio = judged.standing.ratio,
                       .verdict = std::string(to_string(judged.standing.verdict)),
                       .disturbed = disturbed});
  }
  return entries;
}

/// Of the duels with that verdict.
std::vector<std::string> named(std::span<const Judged> all, Verdict verdict) {
  std::vector<std::string> names;
  for (const Judged& judged : all) {
    if (judged.standing.verdict == verdict) {
      names.push_back(judged.duel->label.empty() ? "B" : "B with " + judged.duel->label);
    }
  }
  return names;
}

Outcome outcome_of(const FailOn& fail_on, std::span<const Judged> all, const Question& question,
                   bool disturbed) {
  if (const auto slower = named(all, Verdict::slower);
      fail_on.slower && !disturbed && !slower.empty()) {
    return {exit_regression, fmt::format("slower by more than {:g} %: {}", 100 * question.margin,
                                         fmt::join(slower, ", "))};
  }
  if (fail_on.unclear && disturbed) {
    return {exit_regression, "unclear: other programs were running"};
  }
  if (const auto unclear = named(all, Verdict::unclear); fail_on.unclear && !unclear.empty()) {
    return {exit_regression,
            fmt::format("unclear within the budget: {}", fmt::join(unclear, ", "))};
  }
  return {};
}

std::string sentences_of(std::span<const Judged> all, const Question& question) {
  std::string text;
  for (const Judged& judged : all) {
    text += sentence_of(judged, question) + " ";
  }
  return text + fmt::format(
                    "Equal programs get FASTER or SLOWER with a probability of {:g} % at "
                    "most{}, whenever one stops.",
                    100 * question.alpha,
                    all.size() > 1 ? fmt::format(", in any of the {} duels", all.size()) : "");
}

Value data_of(const DuelCard& card, std::span<const Judged> all) {
  return {{"a", card.a},
          {"b", card.b},
          {"seed", card.seed},
          {"margin", card.question.margin},
          {"alpha", card.question.alpha},
          {"budget_seconds", card.budget_seconds},
          {"results", list_of(judged_columns, all)}};
}

std::vector<std::string> notes_of(const DuelCard& card, std::span<const Judged> all) {
  std::vector<std::string> notes = card.notes;
  const bool peaks = std::ranges::all_of(all, [](const Judged& judged) {
    return std::ranges::all_of(judged.duel->blocks, [](const Block& block) {
      return block.a.run.peak_bytes && block.b.run.peak_bytes;
    });
  });
  if (!peaks) {
    notes.emplace_back(
        "a peak of memory below that of diffbench itself cannot be seen, and is left out");
  }
  std::int64_t failed = 0;
  for (const Judged& judged : all) {
    for (const Block& block : judged.duel->blocks) {
      failed += (block.a.run.status != 0 ? 1 : 0) + (block.b.run.status != 0 ? 1 : 0);
    }
  }
  if (failed > 0) {
    notes.push_back(fmt::format("{} failed, and counted all the same (--ignore-failure)",
                                counted(failed, "run")));
  }
  return notes;
}

} // namespace

Question shared_by(const Question& question, std::size_t duels) {
  Question each = question;
  each.alpha /= static_cast<double>(duels);
  return each;
}

LabReport duel_report(const DuelCard& card, std::span<const Duel> duels, const LoadWatch& load,
                      bool interrupted) {
  const Question each = shared_by(card.question, duels.size());
  const auto disturbance = load.disturbance();
  const bool disturbed = disturbance && !card.beside_load;
  std::vector<Judged> all;
  for (const Duel& duel : duels) {
    if (!duel.blocks.empty()) {
      const Standing found = standing(duel.blocks, each);
      all.push_back(
          {.duel = &duel, .standing = disturbed ? Standing{.ratio = found.ratio} : found});
    }
  }
  const std::string head =
      fmt::format("A: {}\nB: {}\nseed of the order: {}\n\n", card.a, card.b, card.seed);
  const std::vector<Line> lines = lines_of(all);
  LabReport report;
  report.text = head + duel_table(all, each.confidence(), Verdicts::shown);
  report.figures = head + duel_table(all, each.confidence(), Verdicts::left_out);
  append_table(report, format_rows(line_columns, lines));
  report.sentence = sentences_of(all, card.question);
  report.notes = notes_of(card, all);
  report.data = data_of(card, all);
  report.series = series_of(all);
  report.interrupted = interrupted;
  report.disturbed = disturbed;
  if (disturbance) {
    report.notes.push_back(disturbed ? *disturbance
                                     : *disturbance + "; the verdict holds beside them");
  }
  report.concludes_beside_load = card.beside_load;
  if (!card.history.empty()) { // before anything of it is shown
    report.write = [path = card.history, entries = history_of(card, all, disturbed)] {
      append_history(path, entries);
    };
    report.written.push_back(card.history);
  }
  report.outcome = outcome_of(card.fail_on, all, card.question, disturbed);
  return report;
}

} // namespace diffbench::bench
