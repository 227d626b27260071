// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "planning.hpp"
#include "report_json.hpp"
#include "row_order.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace diffbench::bench {

namespace {

VerdictRule rule_of(const ComparisonResult& result) { return order_rule(result.least_effect); }

std::vector<Neighbours> order_of(const ComparisonResult& result) {
  std::vector<const TimedRow*> rows;
  for (const Row& row : result.rows) {
    if (result.until_decided && row.ranked()) {
      rows.push_back(&row);
    }
  }
  const VerdictRule rule = rule_of(result);
  return with_remedies(neighbours(rows, rule), rule);
}

/// Rounds that are still to come.
std::optional<std::int64_t> more_rounds(const Neighbours& pair) {
  return pair.rounds_to_decide ? std::optional(*pair.rounds_to_decide - pair.rounds) : std::nullopt;
}

constexpr Column<Neighbours> neighbour_columns[] = {
    {"faster", "order", as_text, field<&Neighbours::faster, &TimedRow::name>},
    {"slower", "next", as_text, field<&Neighbours::slower, &TimedRow::name>},
    {"ratio", "takes", as_thousandths,
     field<&Neighbours::standing, &Standing::ratio, &Ratio::value>},
    {"interval", "interval",
     [](const Value& interval) {
       return fmt::format("{:.3f} to {:.3f}", interval.find("low").number(),
                          interval.find("high").number());
     },
     field<&Neighbours::standing, &Standing::ratio, &Ratio::interval, interval_json>},
    {"verdict", "the next is", as_text, field<&Neighbours::standing, &Standing::verdict>},
    {"rounds", "rounds", as_text, field<&Neighbours::rounds>},
    {"rounds_to_decide", nullptr, as_text, field<&Neighbours::rounds_to_decide>},
};

/// Rows that have all their samples: no budget would give the pair another round.
bool has_most_rounds(const Neighbours& pair) {
  return std::max(std::ssize(pair.faster->samples), std::ssize(pair.slower->samples)) >=
         rounds_most;
}

std::string undecided_text(const Neighbours& pair) {
  const std::string rows = fmt::format("{} and {}", pair.faster->name, pair.slower->name);
  const auto more = more_rounds(pair);
  if (disturbed(pair.slower->samples)) {
    return rows + " (less would be uncertain without other programs)";
  }
  if (!more) {
    return rows + " (it lies near the margin, or the times scatter too much)";
  }
  const std::int64_t rounds = std::max<std::int64_t>(1, *more);
  const std::string would = fmt::format("about {} more rounds, {}, would decide it", rounds,
                                        format_seconds(pair.seconds_of(rounds)));
  return pair.rounds + rounds <= rounds_most && !has_most_rounds(pair)
             ? fmt::format("{} ({}: give more --budget)", rows, would)
             : fmt::format("{} ({}, and no row takes more than {})", rows, would, rounds_most);
}

} // namespace

std::string format_order(const ComparisonResult& result) {
  const std::vector<Neighbours> all = order_of(result);
  const std::string table = format_rows(neighbour_columns, all);
  return table.empty() ? "" : "\n" + table;
}

Value order_json(const ComparisonResult& result) {
  return result.until_decided ? list_of(neighbour_columns, order_of(result)) : Value();
}

std::optional<std::string> order_note(const ComparisonResult& result) {
  std::vector<std::string> undecided;
  const std::vector<Neighbours> all = order_of(result);
  for (const Neighbours& pair : all) {
    if (!pair.decided()) {
      undecided.push_back(undecided_text(pair));
    }
  }
  if (undecided.empty()) {
    return std::nullopt;
  }
  return fmt::format("the order is not decided: {}", fmt::join(undecided, "; "));
}

} // namespace diffbench::bench
