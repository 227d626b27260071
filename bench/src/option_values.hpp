// Options and their values: declared to CLI11 as text, parsed here and not by it, so that every
// message names option, value and limits in the same way. CLI11 itself (8 s to compile) is seen
// only here and where the command line is put together.
#pragma once

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace diffbench::bench {

/// More steps than anybody can wait for.
inline constexpr std::int64_t max_iterations = 1'000'000'000'000;

/// The help shows what is declared from here on under `title`.
void begin_group(CLI::App& app, const char* title);
/// Declares an option whose text goes to `target`; `type` stands for its value in the help.
void declare_value(CLI::App& app, const std::string& option, std::string& target, const char* type,
                   const char* text);
/// The same for an option that may be repeated, or hold several values with commas between.
void declare_values(CLI::App& app, const std::string& option, std::vector<std::string>& targets,
                    const char* type, const char* text);
/// The files that a verb is given without the name of an option; commas are part of a name.
void declare_files(CLI::App& app, const std::string& name, std::vector<std::string>& targets,
                   const char* type, const char* text);
void declare_flag(CLI::App& app, const std::string& option, bool& target, const char* text);

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

/// "5%" as 0.05; above 0, up to 1000 %.
[[nodiscard]] double parse_percent(std::string_view option, std::string_view text);

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
