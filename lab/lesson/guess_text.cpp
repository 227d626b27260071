// SPDX-License-Identifier: Apache-2.0
#include "guesses.hpp"

#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <regex>

namespace diffbench::bench::lesson {

namespace {

enum class Measure { count, percent, time, rate, size };

struct Unit {
  std::string_view word; ///< in lower case
  Measure measure;
  double in_base; ///< seconds, bytes a second, bytes
};

constexpr double kibi = 1024;
constexpr Unit units[] = {{"times", Measure::count, 1},
                          {"x", Measure::count, 1},
                          {"k", Measure::count, 1e3},
                          {"million", Measure::count, 1e6},
                          {"%", Measure::percent, 1},
                          {"ns", Measure::time, 1e-9},
                          {"us", Measure::time, 1e-6},
                          {"\u00b5s", Measure::time, 1e-6},
                          {"\u03bcs", Measure::time, 1e-6},
                          {"ms", Measure::time, 1e-3},
                          {"s", Measure::time, 1},
                          {"mb/s", Measure::rate, 1e6},
                          {"gb/s", Measure::rate, 1e9},
                          {"tb/s", Measure::rate, 1e12},
                          {"gib/s", Measure::rate, kibi* kibi* kibi},
                          {"kb", Measure::size, 1e3},
                          {"kib", Measure::size, kibi},
                          {"mb", Measure::size, 1e6},
                          {"mib", Measure::size, kibi* kibi},
                          {"gb", Measure::size, 1e9},
                          {"gib", Measure::size, kibi* kibi* kibi}};

const Unit* find_unit(std::string_view word) {
  const auto* found = std::ranges::find(units, word, &Unit::word);
  return found == std::end(units) ? nullptr : found;
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

/// The value of "703,142", as the program prints it, "0,5" or "7e5".
std::optional<double> number_of(std::string word) {
  static const std::regex thousands("[1-9][0-9]{0,2}(,[0-9]{3})+");
  if (std::regex_match(word, thousands)) {
    std::erase(word, ',');
  }
  std::ranges::replace(word, ',', '.');
  return parse_number<double>(word);
}

GuessText refused(std::string_view text, std::string_view why) {
  return {.guess = {}, .complaint = fmt::format("{}{}", printable(text), why)};
}

GuessText choice_of(std::string_view text, std::size_t choices) {
  std::string word = lower(text);
  std::erase_if(
      word, [](char c) { return std::string_view(" \t\r().").find(c) != std::string_view::npos; });
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
  static const std::regex form(
      R"(\s*(?:[~=]|about)?\s*([0-9.,]+(?:e[+-]?[0-9]+)?)\s*(.*?)(?: (?:as fast|faster|more))?[\s?!.]*)");
  std::smatch parts;
  const std::string words = lower(text);
  const auto number = std::regex_match(words, parts, form) ? number_of(parts.str(1)) : std::nullopt;
  if (!number || !std::isfinite(*number) || *number <= 0) {
    return refused(text, " is not one number above 0");
  }
  const std::string rest = parts.str(2);
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
  std::string word = lower(text);
  std::erase_if(word, [](unsigned char c) { return std::isspace(c) != 0; });
  return word == "q" || word == "quit" || word == "exit";
}

} // namespace diffbench::bench::lesson
