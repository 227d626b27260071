// SPDX-License-Identifier: Apache-2.0
#include "assumed_report.hpp"

#include "assumed_ways.hpp"
#include "columns.hpp"
#include "speedup.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace diffbench::bench {

namespace {

/// Two digits: more would say more than is known.
std::string rough(double times) {
  return times < 10 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

std::string error_text(double error) {
  return error == 0 ? "within" : fmt::format("{:+.0f} %", 100 * error);
}

constexpr Column<AssumptionCheck> error_columns[] = {
    {"row", "row", as_text, field<&AssumptionCheck::row>},
    {"run", "run", as_text, field<&AssumptionCheck::what>},
    {"assumed_seconds", "assumed", as_seconds_span, field<&AssumptionCheck::assumed, span_json>},
    {"measured_seconds", "measured", as_seconds, field<&AssumptionCheck::measured>},
    {"error", "error", [](const Value& error) { return error_text(error.number()); },
     field<&AssumptionCheck::error>},
};

} // namespace

void declare_assume(OptionList& options, std::optional<AssumedCard>& card) {
  options.value(
      "--assume CARD|FILE",
      fmt::format("also predict a GPU that is not here, from public figures and marked as "
                  "assumed in every line: {}, or a file like docs/lab.md's",
                  fmt::join(assumed_card_names(), ", ")),
      [&card](std::string_view option, const std::string& text) {
        card = parse_as(option, text, find_assumed_card);
      });
  options.choices(assumed_card_names());
}

Value span_json(const Assumption& span) { return {{"low", span.low}, {"high", span.high}}; }

std::string as_seconds_span(const Value& span) {
  return join_ends(format_seconds(span.find("low").number()),
                   format_seconds(span.find("high").number()));
}

std::string as_ratio_span(const Value& span) {
  return join_ends(as_ratio(span.find("low")), as_ratio(span.find("high")));
}

Assumption times_as_fast(double rival_seconds, const Assumption& seconds) {
  return {rival_seconds / seconds.high, rival_seconds / seconds.low};
}

std::string assumed_title(const AssumedCard& card) {
  return fmt::format("ASSUMED, NOT MEASURED: {}\n", card.name);
}

std::string assumed_name(const std::string& row, const AssumedCard& card) {
  return fmt::format("{} (assumed {})", row, card.id);
}

std::string fits(const AssumedCard& card, double bytes) {
  return bytes <= card.memory.low ? "yes" : bytes <= card.memory.high ? "perhaps" : "no";
}

std::string fits(const AssumedCard& card, const Problem& problem) {
  return fits(card, device_bytes(problem));
}

std::string fit_text(const AssumedCard& card, double bytes, std::string_view what) {
  const std::string answer = fits(card, bytes);
  return fmt::format("{} take {} of its {}: they {}", what, format_bytes(bytes),
                     join_ends(format_bytes(card.memory.low), format_bytes(card.memory.high)),
                     answer == "yes"       ? "fit"
                     : answer == "perhaps" ? "fit or not, depending on what else is in it"
                                           : "do not fit");
}

std::string fit_text(const AssumedCard& card, const Problem& problem) {
  return fit_text(card, device_bytes(problem));
}

std::string join_ends(const std::string& low, const std::string& high) {
  if (low == high) {
    return low;
  }
  const std::size_t unit = low.find(' ');
  const bool same_unit = unit != std::string::npos && high.ends_with(low.substr(unit));
  return fmt::format("{} to {}", same_unit ? low.substr(0, unit) : low, high);
}

std::string pace_text(const Assumption& times) {
  if (times.low >= 1) {
    return fmt::format("{} times as fast", join_ends(rough(times.low), rough(times.high)));
  }
  if (times.high < 1) {
    return fmt::format("{} times as slow", join_ends(rough(1 / times.high), rough(1 / times.low)));
  }
  return fmt::format("between {} times as slow and {} times as fast", rough(1 / times.low),
                     rough(times.high));
}

std::string worth_text(const Assumption& times, const std::string& rival) {
  const char* verdict = worth_json(times).is_null() ? "worth it at best, not worth it at worst"
                        : times.low >= gpu_worth_it ? "worth it"
                                                    : "not worth it";
  return fmt::format("{} as {}: {} by the rule of {} times", pace_text(times), rival, verdict,
                     gpu_worth_it);
}

Value worth_json(const Assumption& times) {
  const bool surely = times.low >= gpu_worth_it;
  return surely == (times.high >= gpu_worth_it) ? Value(surely) : Value();
}

double AssumptionCheck::error() const {
  return measured < assumed.low    ? assumed.low / measured - 1
         : measured > assumed.high ? assumed.high / measured - 1
                                   : 0;
}

bool is_such(const AssumedCard& card, std::string_view gpu_name) {
  const auto in_word = [&](std::size_t place) {
    return place < gpu_name.size() &&
           std::isalnum(static_cast<unsigned char>(gpu_name[place])) != 0;
  };
  const std::string& name = card.reported_as;
  for (std::size_t at = gpu_name.find(name); at != std::string::npos;
       at = gpu_name.find(name, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) {
      return true;
    }
  }
  return false;
}

void add_marked_rows(LabReport& report, const Value& rows) {
  if (!report.rows) {
    report.rows = report.data.find("results");
  }
  for (const Value& row : *std::get<std::unique_ptr<Value::List>>(rows.data())) {
    report.rows->push_back(row);
  }
}

void append_checks(LabReport& report, const AssumedCard& card,
                   std::span<const AssumptionCheck> checks) {
  const auto within = std::ranges::count(checks, 0.0, &AssumptionCheck::error);
  const auto worst = std::ranges::max_element(
      checks, {}, [](const AssumptionCheck& check) { return std::abs(check.error()); });
  append_table(report, assumed_title(card) + format_rows(error_columns, checks));
  report.sentence += fmt::format(
      "\nMeasured figures of such a card replace those assumed for {}: {} of {} lie within the "
      "assumed span{}.",
      card.id, within, checks.size(),
      within == std::ssize(checks)
          ? ""
          : fmt::format(", the worst is {} off ({}, {})", error_text(worst->error()), worst->row,
                        worst->what));
  report.data["assumed"] = {
      {"card", card.id}, {"name", card.name}, {"checks", list_of(error_columns, checks)}};
}

} // namespace diffbench::bench
