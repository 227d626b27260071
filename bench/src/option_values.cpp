#include "option_values.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace diffbench::bench {

void declare_value(CLI::App& app, const std::string& flag, std::string& target, const char* type,
                   const char* text) {
  app.add_option(flag, target, text)->type_name(type);
}

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < low || *number > high) {
    throw InvalidInput(
        fmt::format("{} {}: give a whole number from {} to {}", option, text, low, high));
  }
  return *number;
}

void assign_real(std::string_view option, const std::string& text, double& target) {
  if (text.empty()) {
    return;
  }
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    throw InvalidInput(fmt::format("{} {}: give a finite number such as 0.1", option, text));
  }
  target = *number;
}

void assign_integer(std::string_view option, const std::string& text, std::int64_t low,
                    std::int64_t high, std::int64_t& target) {
  if (!text.empty()) {
    target = parse_integer(option, text, low, high);
  }
}

} // namespace diffbench::bench
