#include "report_csv.hpp"

#include "metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Quoted where it holds a separator, a quote or a line end.
std::string text_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char character : text) {
    quoted += character == '"' ? "\"\"" : std::string(1, character);
  }
  return quoted + "\"";
}

/// The shortest text that reads back as the same number.
std::string number_cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

std::string number_cell(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// Column names with the cells of one row, so that the two cannot drift apart.
std::vector<std::pair<std::string, std::string>> cells(const ComparisonResult& result,
                                                       const Row& row) {
  const auto figures = metrics(result, row);
  auto quartile = [&](double Quartiles::*member) {
    return number_cell(figures ? std::optional(figures->time.*member) : std::nullopt);
  };
  auto figure = [&](double Metrics::*member) {
    return number_cell(figures ? std::optional((*figures).*member) : std::nullopt);
  };
  auto optional_figure = [&](std::optional<double> Metrics::*member) {
    return number_cell(figures ? (*figures).*member : std::nullopt);
  };
  auto wall = [](const std::optional<Phases>& phases) {
    return number_cell(phases ? std::optional(phases->wall) : std::nullopt);
  };
  const Problem& problem = result.problem;
  const std::optional<Verification>& verification = row.verification;
  std::vector<std::pair<std::string, std::string>> columns = {
      {"backend", text_cell(row.name)},
      {"device", row.device},
      {"status", std::string(to_string(row.status))},
      {"reason", text_cell(row.reason)},
      {"nx", std::to_string(problem.nx)},
      {"ny", std::to_string(problem.ny)},
      {"dtype", std::string(to_string(problem.dtype))},
      {"boundary", std::string(to_string(problem.boundary))},
      {"iterations", std::to_string(result.iterations)},
      {"threads", verification ? std::to_string(row.provenance.threads) : ""},
      {"verified", verification ? (verification->bitwise ? "true" : "false") : ""},
      {"verified_steps", verification ? std::to_string(verification->steps) : ""},
      {"samples", std::to_string(row.samples.size())},
      {"iterations_per_sample",
       row.samples.empty() ? "" : std::to_string(row.samples.front().iterations)},
      {"seconds_per_iteration", quartile(&Quartiles::median)},
      {"seconds_q1", quartile(&Quartiles::q1)},
      {"seconds_q3", quartile(&Quartiles::q3)},
      {"seconds_min", quartile(&Quartiles::min)},
      {"seconds_max", quartile(&Quartiles::max)},
      {"cells_per_second", figure(&Metrics::cells_per_second)},
      {"bytes_per_second", figure(&Metrics::bytes_per_second)},
      {"fraction_of_copy", optional_figure(&Metrics::fraction_of_copy)},
      {"speedup_vs_baseline", optional_figure(&Metrics::vs_baseline)},
      {"speedup_vs_best_cpu", optional_figure(&Metrics::vs_best_cpu)},
      {"setup_seconds", number_cell(row.setup_seconds)},
      {"cold_seconds", wall(row.cold)},
      {"warm_seconds", wall(row.warm)},
      {"peak_host_bytes", number_cell(row.peak_host_bytes)},
  };
  // Of the warm run; with what no phase explains they add up to warm_seconds.
  for (const NamedPhase& phase : named_phases) {
    columns.emplace_back(fmt::format("phase_{}_seconds", phase.name),
                         number_cell(row.warm ? (*row.warm).*phase.member : std::nullopt));
  }
  columns.emplace_back("phase_unexplained_seconds",
                       number_cell(row.warm ? std::optional(row.warm->unexplained) : std::nullopt));
  return columns;
}

} // namespace

std::string format_csv(const ComparisonResult& result) {
  std::string header;
  std::string body;
  for (const Row& row : result.rows) {
    std::string names;
    std::string values;
    for (const auto& [name, value] : cells(result, row)) {
      const char* separator = names.empty() ? "" : ",";
      names += separator + name;
      values += separator + value;
    }
    header = names + "\n";
    body += values + "\n";
  }
  return header + body;
}

} // namespace diffbench::bench
