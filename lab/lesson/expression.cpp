// SPDX-License-Identifier: Apache-2.0
#include "expression.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <variant>

namespace diffbench::bench::lesson {

namespace {

/// A value of a result, and where it was found.
struct Found {
  const Value* value;
  const Value* parent = nullptr;
  const Value* row = nullptr; ///< the next one around it that says how wide its times are
  std::string_view name = {};
};
using Values = std::vector<Found>;

constexpr Assumption nothing{no_figure, no_figure};

Assumption span_of(const Value& value) {
  const double number = figure_of(value);
  return std::isfinite(number) ? Assumption{number, number}
                               : Assumption{figure(value, "low"), figure(value, "high")};
}

bool is_one_of(std::string_view alternatives, const Value& value) {
  const std::string text = value.is_null() ? "null" : value.plain_text();
  while (true) {
    const std::size_t bar = alternatives.find('|');
    if (alternatives.substr(0, bar) == text) {
      return true;
    }
    if (bar == std::string_view::npos) {
      return false;
    }
    alternatives.remove_prefix(bar + 1);
  }
}

/// Reads and computes at once: expressions are short, and read a few times only.
class Evaluation {
 public:
  Evaluation(std::string_view text, const StepResult& result)
      : text_(text), own_(result.own), card_(result.card), width_(result.width) {}

  Assumption whole_sum() {
    const Assumption value = sum();
    require_end();
    return value;
  }

  Values whole_path() {
    Values values = path(name());
    require_end();
    return values;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw InvalidInput(
        fmt::format("\"{}\": {} is expected at character {}", text_, expected, at_ + 1));
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }

  bool took(char wanted) {
    skip_spaces();
    const bool there = at_ < text_.size() && text_[at_] == wanted;
    at_ += there ? 1 : 0;
    return there;
  }

  void take(char wanted) {
    if (!took(wanted)) {
      fail(fmt::format("'{}'", wanted));
    }
  }

  void require_end() {
    skip_spaces();
    if (at_ != text_.size()) {
      fail("an operator or the end");
    }
  }

  Assumption sum() {
    Assumption value = product();
    while (true) {
      if (took('+')) {
        const Assumption other = product();
        value = {value.low + other.low, value.high + other.high};
      } else if (took('-')) {
        const Assumption other = product();
        value = {value.low - other.high, value.high - other.low};
      } else {
        return value;
      }
    }
  }

  Assumption product() {
    Assumption value = factor();
    while (true) {
      if (took('*')) {
        const Assumption other = factor();
        value = {value.low * other.low, value.high * other.high};
      } else if (took('/')) {
        const Assumption other = factor();
        value = {value.low / other.high, value.high / other.low};
      } else {
        return value;
      }
    }
  }

  Assumption factor() {
    if (took('(')) {
      const Assumption value = sum();
      take(')');
      return value;
    }
    const std::string_view word = name();
    if (const auto number = parse_number<double>(word); number && std::isfinite(*number)) {
      return {*number, *number};
    }
    if (took('(')) {
      const Assumption value = called(word);
      take(')');
      return value;
    }
    if (word == "card") {
      take('.');
      return assumed_figure(card_, name());
    }
    const Values values = path(word);
    return values.empty() ? nothing : widened(values.front());
  }

  /// Beside other programs. Counts are what they are, and a span holds what it has to. Else the
  /// figure says how wide it is, or its row, whose time it is or a rate; or it is a ratio of any
  /// two times of the run.
  [[nodiscard]] Assumption widened(const Found& found) const {
    const auto [low, high] = span_of(*found.value);
    if (!std::holds_alternative<double>(found.value->data())) {
      return {low, high};
    }
    const Value& own = found.parent->find(std::string(found.name) + "_width");
    Width width{.low = width_.low / width_.high, .high = width_.high / width_.low};
    if (!own.is_null()) {
      width = {.low = figure(own, "low"), .high = figure(own, "high")};
    } else if (found.row != nullptr) {
      width = {.low = figure(*found.row, "width.low"), .high = figure(*found.row, "width.high")};
      width = {.low = std::min(width.low, 1 / width.high),
               .high = std::max(width.high, 1 / width.low)};
    }
    return {low * width.low, high * width.high};
  }

  /// A name, or a number.
  std::string_view name() {
    skip_spaces();
    const std::size_t begin = at_;
    const auto belongs = [&](char c) {
      const bool in_number = begin < text_.size() && text_[begin] >= '0' && text_[begin] <= '9';
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '_' || (in_number && (c == '.' || (c == '-' && text_[at_ - 1] == 'e')));
    };
    while (at_ < text_.size() && belongs(text_[at_])) {
      ++at_;
    }
    if (at_ == begin) {
      fail("a number or a name");
    }
    return text_.substr(begin, at_ - begin);
  }

  Assumption called(std::string_view function) {
    const std::size_t place = at_;
    Values values = path(name());
    const auto number = [](const Found& found) { return figure_of(*found.value); };
    std::erase_if(values, [&](const Found& found) { return !std::isfinite(number(found)); });
    std::set<double> figures;
    std::ranges::transform(values, std::inserter(figures, figures.end()), number);
    if (function != "least" && function != "distinct") {
      at_ = place - function.size() - 1;
      fail("least or distinct");
    }
    if (values.empty()) {
      return nothing;
    }
    if (function == "least") {
      Assumption least = widened(values.front());
      for (const Found& found : values) {
        const Assumption other = widened(found);
        least = {std::min(least.low, other.low), std::min(least.high, other.high)};
      }
      return least;
    }
    const auto distinct = static_cast<double>(figures.size());
    return {distinct, distinct};
  }

  Values path(std::string_view first) {
    Values values{{.value = &own_}};
    for (std::string_view step = first;; step = name()) {
      Values next;
      for (const Found& at : values) {
        const Value& found = at.value->find(step);
        const bool is_row = at.value != &own_ && !at.value->find("width").is_null();
        Found inner{&found, at.value, is_row ? at.value : at.row, step};
        if (const auto* list = std::get_if<Value::List>(&found.data())) {
          for (const Value& element : *list) {
            inner.value = &element;
            next.push_back(inner);
          }
        } else if (!found.is_null()) {
          next.push_back(inner);
        }
      }
      values = std::move(next);
      while (took('[')) {
        select(values);
        take(']');
      }
      if (!took('.')) {
        return values;
      }
    }
  }

  void select(Values& values) {
    const std::size_t close = std::min(text_.find(']', at_), text_.size());
    std::string_view conditions = text_.substr(at_, close - at_);
    if (const auto place = parse_number<std::int64_t>(conditions)) {
      const std::int64_t from_begin = *place < 0 ? std::ssize(values) + *place : *place;
      values = from_begin >= 0 && from_begin < std::ssize(values)
                   ? Values{values[static_cast<std::size_t>(from_begin)]}
                   : Values{};
      at_ = close;
      return;
    }
    while (!conditions.empty()) {
      const std::string_view condition = conditions.substr(0, conditions.find(','));
      const std::size_t equals = condition.find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == condition.size()) {
        fail("key=value or a number");
      }
      std::erase_if(values, [&](const Found& found) {
        return !is_one_of(condition.substr(equals + 1),
                          found.value->find(condition.substr(0, equals)));
      });
      conditions.remove_prefix(std::min(condition.size() + 1, conditions.size()));
    }
    at_ = close;
  }

  std::string_view text_;
  const Value& own_;
  const AssumedCard& card_;
  Width width_;
  std::size_t at_ = 0;
};

} // namespace

Assumption evaluate(std::string_view expression, const StepResult& result) {
  return Evaluation(expression, result).whole_sum();
}

std::vector<const Value*> values_at(std::string_view path, const StepResult& result) {
  std::vector<const Value*> values;
  std::ranges::transform(Evaluation(path, result).whole_path(), std::back_inserter(values),
                         &Found::value);
  return values;
}

} // namespace diffbench::bench::lesson
