// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include "diffbench/text.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

namespace diffbench::bench::lesson {

std::string_view to_string(Source source) {
  switch (source) {
    case Source::absent: return "not measurable here";
    case Source::measured: return "measured";
    case Source::unclear: return "measured, unclear in this noise";
    case Source::disturbed: return "measured beside other programs";
    case Source::assumed: return "assumed, not measured";
    case Source::reported: return "reported";
    case Source::reasoned: return "reasoned";
  }
  return "";
}

Answer answered(const Answer& answer, bool concludes) {
  const bool follows = answer.source == Source::reported || answer.source == Source::reasoned;
  return follows || concludes ? answer : Answer{.source = Source::disturbed};
}

std::string answer_text(const Answer& answer) {
  if (answer.source == Source::absent || answer.source == Source::disturbed) {
    return "";
  }
  if (answer.choice != 0) {
    return {answer.choice};
  }
  if (answer.source == Source::reasoned || answer.source == Source::reported) {
    return fmt::format("{:.6g}", answer.figure.low); // exact
  }
  const std::string low = format_figure(answer.figure.low);
  const std::string high = format_figure(answer.figure.high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

double figure_of(const Value& value) {
  const bool is_number = std::holds_alternative<double>(value.data()) ||
                         std::holds_alternative<std::int64_t>(value.data()) ||
                         std::holds_alternative<std::uint64_t>(value.data());
  return is_number ? value.number() : no_figure;
}

double figure(const Value& value, std::string_view path) { return figure_of(value.find(path)); }

std::string text_at(const Value& value, std::string_view path) {
  const auto* text = std::get_if<std::string>(&value.find(path).data());
  return text != nullptr ? *text : "";
}

Grade grade(const std::string& guess, const Answer& answer, double tolerance) {
  if (guess.empty() || answer.source == Source::absent || answer.source == Source::unclear ||
      answer.source == Source::disturbed) {
    return {};
  }
  if (answer.choice != 0) {
    const bool right = guess[0] == answer.choice;
    return {.right = right, .text = right ? "right" : "wrong"};
  }
  const double number = parse_number<double>(guess).value_or(0);
  const auto [low, high] = answer.figure;
  if (number >= low / tolerance && number <= high * tolerance) {
    return {.right = true, .text = "right"};
  }
  return number < low
             ? Grade{.text = fmt::format("{} times too low", format_figure(low / number))}
             : Grade{.text = fmt::format("{} times too high", format_figure(number / high))};
}

} // namespace diffbench::bench::lesson
