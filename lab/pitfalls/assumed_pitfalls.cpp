// SPDX-License-Identifier: Apache-2.0
#include "pitfall.hpp"

#include "assumed_report.hpp"
#include "columns.hpp"
#include "context.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace diffbench::bench {

namespace {

/// What the clock reads, in seconds.
struct AssumedReadings {
  Assumption mistaken, right;
};

Bill bill_of_steps(const AssumedCard& card, CardRun run, double cells, double steps) {
  run.cells = cells;
  run.steps = steps;
  return bill_of(card, run, stencil_work(Dtype::float32));
}

AssumedReadings assume_context_timed(const AssumedCard& card, double cells) {
  const Bill run = bill_of_steps(card, {.locked = false}, cells, 100);
  return {run.seconds, run.warm};
}

/// The host hands out 8 graphs of 128 steps, and is done.
AssumedReadings assume_no_wait(const AssumedCard& card, double cells) {
  return {{8 * card.launch.low, 8 * card.launch.high},
          bill_of_steps(card, {.backend = "cuda_graph"}, cells, 1024).steps};
}

AssumedReadings assume_wait_each_step(const AssumedCard& card, double cells) {
  return {bill_of_steps(card, {.waits_each_step = true}, cells, 100).steps,
          bill_of_steps(card, {}, cells, 100).steps};
}

/// 10 snapshots, 20 steps before each. From ordinary memory a copy holds the host; from
/// page-locked memory it runs beside the next 20 steps.
AssumedReadings assume_pageable_async(const AssumedCard& card, double cells) {
  const CardRun held{.locked = false, .trips = 0, .snapshots = 10};
  const CardRun beside{.trips = 0, .snapshots = 10, .overlaps = true};
  return {bill_of_steps(card, held, cells, 200).warm, bill_of_steps(card, beside, cells, 200).warm};
}

struct Assumable {
  std::string_view pitfall, kernel;
  AssumedReadings (*read)(const AssumedCard& card, double cells);
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
  std::vector<AssumedPitfall> rows;
  for (const Pitfall& pitfall : chosen) {
    const auto* known = std::ranges::find(assumable_pitfalls, pitfall.name, &Assumable::pitfall);
    if (known == assumable_pitfalls.end()) {
      continue;
    }
    const auto [mistaken, right] = known->read(card, cells);
    rows.push_back({.card = &card,
                    .pitfall = &pitfall,
                    .kernel = known->kernel,
                    .mistaken = mistaken,
                    .right = right,
                    .factor = span_between(mistaken.low / right.low, mistaken.high / right.high)});
  }
  return rows;
}

/// Those that were measured here.
std::vector<AssumptionCheck> checks_of(std::span<const AssumedPitfall> rows,
                                       const Value& measured) {
  std::vector<AssumptionCheck> checks;
  for (const Value& one : measured.elements()) {
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
