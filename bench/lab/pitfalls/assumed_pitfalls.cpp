// SPDX-License-Identifier: Apache-2.0
#include "assumed_pitfalls.hpp"

#include "assumed_phases.hpp"
#include "assumed_report.hpp"
#include "columns.hpp"
#include "context.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace diffbench::bench {

namespace {

/// What the clock reads, in seconds, at one end.
struct AssumedReadings {
  double mistaken = 0, right = 0;
};

/// The steps of a run, from the first launch to the end of the wait.
double steps_of(const AssumedPhases& phases) {
  return phases.launch + phases.compute + phases.sync;
}

AssumedReadings assume_context_timed(const AssumedEnd& end, double cells) {
  const AssumedPhases run =
      assumed_phases(end, {.transfer = Transfer::pageable}, {.cells = cells, .iterations = 100});
  return {run.cold(), run.warm()};
}

/// The host hands out 8 graphs of 128 steps, and is done.
AssumedReadings assume_no_wait(const AssumedEnd& end, double cells) {
  constexpr double graphs = 8;
  const AssumedPhases run =
      assumed_phases(end, {.backend = "cuda_graph"}, {.cells = cells, .iterations = 1024});
  return {graphs * end.launch(), steps_of(run)};
}

AssumedReadings assume_wait_each_step(const AssumedEnd& end, double cells) {
  const RunShape run{.cells = cells, .iterations = 100};
  return {steps_of(assumed_phases(end, {.wait_each_step = true}, run)),
          steps_of(assumed_phases(end, {}, run))};
}

/// 10 snapshots, 20 steps before each. From ordinary memory a copy holds the host; from
/// page-locked memory it runs beside the next 20 steps.
AssumedReadings assume_pageable_async(const AssumedEnd& end, double cells) {
  constexpr double snapshots = 10;
  const AssumedPhases part = assumed_phases(end, {}, {.cells = cells, .iterations = 20});
  const double steps = part.launch + part.compute;
  const double bytes = cells * end.work().copied_bytes;
  const double slow_copy = copy_seconds(end, bytes, CopyTo::host, false);
  const double copy = copy_seconds(end, bytes, CopyTo::host, true);
  return {snapshots * (steps + slow_copy) + part.sync,
          steps + (snapshots - 1) * std::max(steps, copy) + copy + part.sync};
}

struct Assumable {
  std::string_view pitfall, kernel;
  AssumedReadings (*read)(const AssumedEnd& end, double cells);
};
/// Of event-pairs no card has a figure. synchronize-every-step is measured with cuda_naive, which
/// has a launch a step like cuda_stream.
constexpr std::array assumable_pitfalls{
    Assumable{"context-timed", "cuda_stream", assume_context_timed},
    Assumable{"no-synchronization", "cuda_graph", assume_no_wait},
    Assumable{"synchronize-every-step", "cuda_stream", assume_wait_each_step},
    Assumable{"pageable-async", "cuda_stream", assume_pageable_async}};

struct AssumedPitfall {
  const AssumedCard* card;
  const Pitfall* pitfall;
  std::string_view kernel;
  Assumption mistaken, right, factor;
};

/// "8.20 to 12.1x too slow", "1.10x too fast to 2.30x too slow".
std::string effect_text(const Assumption& factor) {
  const auto one = [](double times) {
    return factor_text(times, fmt::format("no effect ({}x)", format_figure(times)),
                       "no time at all");
  };
  if (effect_of(factor.low) == effect_of(factor.high) && effect_of(factor.low) != Effect::none) {
    const bool slow = factor.low > 1;
    return fmt::format("{} to {}x too {}", format_figure(slow ? factor.low : 1 / factor.high),
                       format_figure(slow ? factor.high : 1 / factor.low), slow ? "slow" : "fast");
  }
  return join_ends(one(factor.low), one(factor.high));
}

constexpr Column<AssumedPitfall> assumed_pitfall_columns[] = {
    {"name", "pitfall", as_text, field<&AssumedPitfall::pitfall, &Pitfall::name>,
     [](const AssumedPitfall& one) {
       return assumed_name(std::string(one.pitfall->name), *one.card);
     }},
    {"backend", nullptr, as_text, field<&AssumedPitfall::kernel>},
    {"assumed", nullptr, as_text, field<&AssumedPitfall::card, &AssumedCard::id>},
    {"mistaken_span", "the mistake would read", as_seconds_span,
     field<&AssumedPitfall::mistaken, span_json>},
    {"right_span", "right", as_seconds_span, field<&AssumedPitfall::right, span_json>},
    {"factor_span", "effect",
     [](const Value& span) {
       return effect_text({span.find("low").number(), span.find("high").number()});
     },
     [](const AssumedPitfall& one) {
       return one.factor.high > 0 ? span_json(one.factor) : Value();
     }},
};

/// Without what they show.
std::string readings_table(std::vector<AssumedPitfall> rows) {
  for (AssumedPitfall& row : rows) {
    row.factor = {};
  }
  return format_rows(assumed_pitfall_columns, rows);
}

std::vector<AssumedPitfall> assumed_of(const AssumedCard& card, std::span<const Pitfall> chosen,
                                       const Problem& problem) {
  const auto cells = static_cast<double>(problem.cells());
  const AssumedEnd fast_end(card, Dtype::float32, AssumedEnd::Bound::fast);
  const AssumedEnd slow_end(card, Dtype::float32, AssumedEnd::Bound::slow);
  std::vector<AssumedPitfall> rows;
  for (const Pitfall& pitfall : chosen) {
    const auto* known = std::ranges::find(assumable_pitfalls, pitfall.name, &Assumable::pitfall);
    if (known == assumable_pitfalls.end()) {
      continue;
    }
    const AssumedReadings fast = known->read(fast_end, cells);
    const AssumedReadings slow = known->read(slow_end, cells);
    rows.push_back(
        {.card = &card,
         .pitfall = &pitfall,
         .kernel = known->kernel,
         .mistaken = span_between(fast.mistaken, slow.mistaken),
         .right = span_between(fast.right, slow.right),
         .factor = span_between(fast.mistaken / fast.right, slow.mistaken / slow.right)});
  }
  return rows;
}

/// Those that were measured here.
std::vector<AssumptionCheck> checks_of(std::span<const AssumedPitfall> rows,
                                       const Value& measured) {
  std::vector<AssumptionCheck> checks;
  for (const Value& one : *std::get<std::unique_ptr<Value::List>>(measured.data())) {
    for (const AssumedPitfall& row : rows) {
      const double mistaken = one.find("mistaken_seconds").number();
      const double right = one.find("right_seconds").number();
      if (one.find("name").plain_text() == row.pitfall->name && mistaken > 0 && right > 0) {
        const std::string name(row.pitfall->name);
        checks.push_back({name, "mistake", row.mistaken, mistaken});
        checks.push_back({name, "right", row.right, right});
      }
    }
  }
  return checks;
}

std::string mistakes_sentence(const AssumedCard& card, std::span<const AssumedPitfall> rows) {
  std::vector<std::string> parts;
  for (const AssumedPitfall& row : rows) {
    parts.push_back(fmt::format("{} would read {}", row.pitfall->name, effect_text(row.factor)));
  }
  return fmt::format("Assumed, not measured ({}): {}.", card.id, fmt::join(parts, ", "));
}

std::string lines_text(std::span<const AssumedPitfall> rows) {
  std::string text;
  for (const AssumedPitfall& row : rows) {
    text += fmt::format("\n{}: {}\n  mistake: {}; right: {}\n  Usually {}.\n  {}\n",
                        assumed_name(std::string(row.pitfall->name), *row.card), row.pitfall->work,
                        row.pitfall->mistake, row.pitfall->right, row.pitfall->why,
                        row.pitfall->advice);
  }
  return text;
}

} // namespace

bool is_assumable(std::string_view pitfall) {
  return std::ranges::find(assumable_pitfalls, pitfall, &Assumable::pitfall) !=
         assumable_pitfalls.end();
}

void append_assumed_pitfalls(LabReport& report, const AssumedCard& card,
                             std::span<const Pitfall> chosen, const Problem& problem) {
  const std::vector<AssumedPitfall> rows = assumed_of(card, chosen, problem);
  if (rows.empty()) {
    report.notes.push_back(fmt::format(
        "--assume {}: none of these mistakes needs a GPU that its figures describe", card.id));
    return;
  }
  const std::vector<AssumptionCheck> checks = checks_of(rows, report.data);
  if (is_such(card, fact(run_context(), "gpu_name")) && !checks.empty()) {
    LabReport checked;
    append_checks(checked, card, checks);
    append_table(report, checked.text);
    report.sentence += checked.sentence;
    report.assumed = checked.data.find("assumed");
    return;
  }
  const std::string sentence = mistakes_sentence(card, rows);
  const std::string lines = lines_text(rows);
  append_table(report, assumed_title(card) + format_rows(assumed_pitfall_columns, rows) + lines,
               assumed_title(card) + readings_table(rows) + lines);
  report.sentence += (report.sentence.empty() ? "" : "\n") + sentence;
  report.assumed = {{"card", card.id},
                    {"name", card.name},
                    {"rows", list_of(assumed_pitfall_columns, rows)},
                    {"sentence", sentence}};
  add_marked_rows(report, report.assumed.find("rows"));
}

} // namespace diffbench::bench
