// Values of options: declared as text, parsed here and not by CLI11, so that every message names
// option, value and limits in the same way.
#pragma once

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace diffbench::bench {

/// More steps than anybody can wait for.
inline constexpr std::int64_t max_iterations = 1'000'000'000'000;

/// Declares an option whose text goes to `target`; `type` stands for its value in the help.
void declare_value(CLI::App& app, const std::string& flag, std::string& target, const char* type,
                   const char* text);

/// All of `text` as a number; empty when it is anything else.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

/// Throws InvalidInput, as all of the following do, for a value that is none or out of its limits.
[[nodiscard]] std::int64_t parse_integer(std::string_view option, std::string_view text,
                                         std::int64_t low, std::int64_t high);

// Those below leave `target` as it is when the option was not given.

void assign_real(std::string_view option, const std::string& text, double& target);
void assign_integer(std::string_view option, const std::string& text, std::int64_t low,
                    std::int64_t high, std::int64_t& target);

/// Calls `parse`; its message then begins with the option's name.
template <typename Target, typename Parse>
void assign(std::string_view option, const std::string& text, Target& target, Parse parse) {
  if (text.empty()) {
    return;
  }
  try {
    target = parse(text);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", option, error.what()));
  }
}

} // namespace diffbench::bench
