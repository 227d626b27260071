#include "option_values.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace diffbench::bench {

namespace {

/// CLI11 takes whatever comes next for a value: `--json --no-progress` would write a file of that
/// name.
std::string refuse_option(const std::string& value) {
  return value.starts_with("--") ? "the value is missing before " + value : "";
}

} // namespace

void begin_group(CLI::App& app, const char* title) { app.option_defaults()->group(title); }

void declare_value(CLI::App& app, const std::string& option, std::string& target, const char* type,
                   const char* text) {
  app.add_option(option, target, text)->type_name(type)->check(refuse_option);
}

void declare_values(CLI::App& app, const std::string& option, std::vector<std::string>& targets,
                    const char* type, const char* text) {
  app.add_option(option, targets, text)
      ->type_name(type)
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(refuse_option);
}

void declare_files(CLI::App& app, const std::string& name, std::vector<std::string>& targets,
                   const char* type, const char* text) {
  app.add_option(name, targets, text)->type_name(type);
}

void declare_flag(CLI::App& app, const std::string& option, bool& target, const char* text) {
  app.add_flag(option, target, text);
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

double parse_percent(std::string_view option, std::string_view text) {
  const bool has_sign = text.ends_with('%');
  const auto number = parse_number<double>(has_sign ? text.substr(0, text.size() - 1) : text);
  if (!has_sign || !number || !(*number > 0 && *number <= 1000)) {
    throw InvalidInput(
        fmt::format("{} {}: give percent above 0, up to 1000, such as 5%", option, text));
  }
  return *number / 100;
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
