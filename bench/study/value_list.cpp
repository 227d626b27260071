// SPDX-License-Identifier: Apache-2.0
#include "value_list.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace diffbench::bench {

namespace {

/// Rounding must not cost a range its last value: 0.1:0.3:+0.1 has three.
constexpr double tolerance = 1e-9;

std::string number_text(double value, bool whole) {
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.10g}", value);
}

} // namespace

ValueList::ValueList(std::string_view option, std::string_view text, Values kind) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    if (part.empty()) {
      throw InvalidInput(fmt::format("{} {}: a value between the commas is empty", option, text));
    }
    if (kind == Values::numbers && part.find(':') != std::string_view::npos) {
      parts_.push_back({.text = {}, .range = parse_range(option, part)});
    } else {
      parts_.push_back({.text = std::string(part), .range = {}});
    }
    begin = comma + 1;
  }
}

ValueList::Range ValueList::parse_range(std::string_view option, std::string_view text) {
  auto refuse = [&](std::string_view why) {
    throw InvalidInput(fmt::format("{} {}: {}", option, text, why));
  };
  constexpr std::string_view form = "give LO:HI:xFACTOR or LO:HI:+STEP, such as 64:8192:x2";
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos || second + 1 >= text.size() ||
      (text[second + 1] != 'x' && text[second + 1] != '+')) {
    refuse(form);
  }
  const auto low = parse_number<double>(text.substr(0, first));
  const auto high = parse_number<double>(text.substr(first + 1, second - first - 1));
  const auto step = parse_number<double>(text.substr(second + 2));
  if (!low || !high || !step || !std::isfinite(*low) || !std::isfinite(*high) ||
      !std::isfinite(*step)) {
    refuse(form);
  }
  const Range range{
      .low = *low, .high = *high, .step = *step, .grows_by_factor = text[second + 1] == 'x'};
  if (range.low > range.high) {
    refuse("the range runs backwards: give the smaller end first");
  }
  if (range.grows_by_factor && !(range.low > 0 && range.step > 1)) {
    refuse("the range has no end: it must begin above 0 and grow by a factor above 1");
  }
  if (!range.grows_by_factor && !(range.step > 0)) {
    refuse("the range has no end: its step must be above 0");
  }
  return range;
}

double ValueList::Range::count() const {
  const double steps =
      grows_by_factor ? std::log(high / low) / std::log(step) : (high - low) / step;
  return std::floor(steps + tolerance) + 1;
}

double ValueList::Range::value(double index) const {
  const double value = grows_by_factor ? low * std::pow(step, index) : low + step * index;
  return whole() ? std::round(value) : value;
}

/// Between whole ends a factor of 1.5 means cells and steps, too.
bool ValueList::Range::whole() const {
  return std::floor(low) == low && std::floor(high) == high &&
         (grows_by_factor || std::floor(step) == step);
}

double ValueList::count() const {
  double count = 0;
  for (const Part& part : parts_) {
    count += part.text.empty() ? part.range.count() : 1;
  }
  return count;
}

std::vector<std::string> ValueList::values() const {
  std::vector<std::string> values;
  auto add = [&](std::string text) {
    if (std::ranges::find(values, text) == values.end()) {
      values.push_back(std::move(text));
    }
  };
  for (const Part& part : parts_) {
    if (!part.text.empty()) {
      add(part.text);
      continue;
    }
    const double count = part.range.count();
    for (double index = 0; index < count; ++index) {
      add(number_text(part.range.value(index), part.range.whole()));
    }
  }
  return values;
}

std::vector<std::int64_t> parse_integers(std::string_view option, std::string_view text,
                                         Limits limits) {
  const ValueList list(option, text, Values::numbers);
  constexpr double most = 1000;
  if (list.count() > most) {
    throw InvalidInput(fmt::format("{} {}: give at most {} numbers", option, text, most));
  }
  std::set<std::int64_t> numbers;
  for (const std::string& value : list.values()) {
    numbers.insert(parse_integer(option, value, limits));
  }
  return {numbers.begin(), numbers.end()};
}

} // namespace diffbench::bench
