// SPDX-License-Identifier: Apache-2.0
#include "guesses.hpp"

#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <regex>

namespace diffbench::bench::lesson {

namespace {

enum class Measure { count, percent, time, rate, size };

struct Unit {
  std::string_view word; ///< in lower case, but for those of bytes
  Measure measure;
  double in_base; ///< seconds, bytes a second, bytes
};

constexpr double kibi = 1024;
constexpr std::array units{
    Unit{"times", Measure::count, 1},
    Unit{"x", Measure::count, 1},
    Unit{"\u00d7", Measure::count, 1},
    Unit{"fold", Measure::count, 1},
    Unit{"-fold", Measure::count, 1},
    Unit{"time", Measure::count, 1},
    Unit{"parameters", Measure::count, 1},
    Unit{"launches", Measure::count, 1},
    Unit{"k", Measure::count, 1e3},
    Unit{"thousand", Measure::count, 1e3},
    Unit{"million", Measure::count, 1e6},
    Unit{"%", Measure::percent, 1},
    Unit{"percent", Measure::percent, 1},
    Unit{"ns", Measure::time, 1e-9},
    Unit{"us", Measure::time, 1e-6},
    Unit{"\u00b5s", Measure::time, 1e-6},
    Unit{"\u03bcs", Measure::time, 1e-6},
    Unit{"microseconds", Measure::time, 1e-6},
    Unit{"ms", Measure::time, 1e-3},
    Unit{"milliseconds", Measure::time, 1e-3},
    Unit{"s", Measure::time, 1},
    Unit{"sec", Measure::time, 1},
    Unit{"seconds", Measure::time, 1},
    Unit{"mb/s", Measure::rate, 1e6},
    Unit{"gb/s", Measure::rate, 1e9},
    Unit{"tb/s", Measure::rate, 1e12},
    Unit{"gib/s", Measure::rate, kibi* kibi* kibi},
    Unit{"gbs", Measure::rate, 1e9},
    Unit{"gbyte/s", Measure::rate, 1e9},
    Unit{"gbytes/s", Measure::rate, 1e9},
    Unit{"kb", Measure::size, 1e3},
    Unit{"kib", Measure::size, kibi},
    Unit{"mb", Measure::size, 1e6},
    Unit{"mib", Measure::size, kibi* kibi},
    Unit{"gb", Measure::size, 1e9},
    Unit{"gib", Measure::size, kibi* kibi* kibi},
};

const Unit* find_unit(std::string_view word) {
  const auto* found = std::ranges::find(units, word, &Unit::word);
  return found == units.end() ? nullptr : found;
}

/// Lower case, but for bytes outside of ASCII.
std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return static_cast<unsigned char>(c) < 128
               ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
               : c;
  });
  return result;
}

/// Without spaces at the ends, and what is said before and after a number without meaning more.
std::string without_padding(std::string_view text) {
  static const std::regex before(
      "^(~|\u2248|=|about|around|roughly|circa|ca\\.?|maybe|some|perhaps|i guess)\\s*");
  static const std::regex after(
      "\\s*(faster|as fast|longer|as long|more|as many|as much|higher|speed-?up|[?!.])$");
  std::string word = lower(text);
  const auto trim = [&] {
    const std::size_t first = word.find_first_not_of(" \t\r");
    word = first == std::string::npos
               ? ""
               : word.substr(first, word.find_last_not_of(" \t\r") - first + 1);
  };
  trim();
  for (std::string old; old != word;) {
    old = word;
    word = std::regex_replace(std::regex_replace(word, before, ""), after, "");
    trim();
  }
  return word;
}

/// The value of "703,142", "1 000", "1'000", "0,5", "7e5", "10^6", "1/3" or "ten".
std::optional<double> number_of(std::string word) {
  static constexpr std::array words{"one",   "two",   "three", "four", "five",   "six",
                                    "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
  if (const auto* found = std::ranges::find(words, word); found != words.end()) {
    return static_cast<double>(found - words.begin() + 1);
  }
  if (word == "half" || word == "twice" || word == "double" || word == "hundred" ||
      word == "a hundred") {
    return word == "half" ? 0.5 : word.ends_with("hundred") ? 100 : 2;
  }
  static const std::regex spaced("[0-9]{1,3}([ '][0-9]{3})+");
  static const std::regex thousands("[1-9][0-9]{0,2}(,[0-9]{3})+");
  if (std::regex_match(word, spaced)) {
    std::erase_if(word, [](char c) { return c == ' ' || c == '\''; });
  } else if (std::regex_match(word, thousands)) {
    std::erase(word, ','); // as the program prints it
  }
  std::ranges::replace(word, ',', '.'); // "0,5"
  for (const char sign : {'/', '^'}) {
    if (const std::size_t at = word.find(sign); at != std::string::npos) {
      const auto left = parse_number<double>(word.substr(0, at));
      const auto right = parse_number<double>(word.substr(at + 1));
      if (!left || !right) {
        return std::nullopt;
      }
      return sign == '/' ? *left / *right : std::pow(*left, *right);
    }
  }
  return parse_number<double>(word);
}

GuessText refused(std::string_view text, std::string_view why) {
  return {.guess = {}, .complaint = fmt::format("{}{}", printable(text), why)};
}

GuessText choice_of(std::string_view text, std::size_t choices) {
  std::string word = lower(text);
  std::erase_if(word, [](char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '(' || c == ')' || c == '.';
  });
  if (word.size() == 1 && word[0] >= 'a' && static_cast<std::size_t>(word[0] - 'a') < choices) {
    return {.guess = word, .complaint = {}};
  }
  return refused(text, fmt::format(" is none of a {} {}", choices == 2 ? "and" : "to",
                                   static_cast<char>('a' + choices - 1)));
}

} // namespace

GuessText read_guess(std::string_view text, std::string_view unit, std::size_t choices) {
  if (choices > 0) {
    return choice_of(text, choices);
  }
  const std::string word = without_padding(text);
  // The longest beginning that is a number; what follows is a unit.
  std::optional<double> number;
  std::size_t length = word.size();
  for (; length > 0 && !number; --length) {
    if (word[length - 1] != ' ') {
      number = number_of(word.substr(0, length));
    }
    if (number) {
      break;
    }
  }
  if (!number || !std::isfinite(*number) || *number <= 0) {
    return refused(text, " is not one number above 0");
  }
  std::string rest = without_padding(word.substr(length));
  if (const std::size_t last = rest.find_last_of(' ');
      last != std::string::npos && find_unit(rest) == nullptr) {
    const Unit* scale = find_unit(rest.substr(0, last)); // "1.5 million parameters"
    if (scale != nullptr && scale->measure == Measure::count) {
      *number *= scale->in_base;
      rest.erase(0, last + 1);
    }
  }
  if (text.find("Gb") != std::string_view::npos || rest.find("bit") != std::string::npos) {
    return refused(text, ": bits or bytes? write bytes: GB");
  }
  if (rest.empty() || rest == lower(unit)) {
    return {.guess = fmt::format("{}", *number), .complaint = {}};
  }
  const Unit* given = find_unit(rest);
  // Whatever is no percent, time, rate or size is counted: times, copies, parameters.
  const Unit* known = find_unit(lower(unit));
  const Unit wanted = known != nullptr ? *known : Unit{unit, Measure::count, 1};
  // "5 GB" for GB/s: the question says that it is in a second.
  const bool fits =
      given != nullptr && (given->measure == wanted.measure ||
                           (given->measure == Measure::size && wanted.measure == Measure::rate));
  if (!fits) {
    return refused(text, fmt::format(": the answer is in {}", unit));
  }
  return {.guess = fmt::format("{:.6g}", *number * given->in_base / wanted.in_base),
          .complaint = {}};
}

bool wants_to_leave(std::string_view text) {
  const std::string word = without_padding(text);
  return word == "q" || word == "quit" || word == "exit";
}

} // namespace diffbench::bench::lesson
