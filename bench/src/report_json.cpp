#include "report_json.hpp"

#include "metrics.hpp"
#include "speedup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <cmath>
#include <ctime>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// null for what is not known or not a number: JSON has no NaN, and readers break on a bare one.
ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : nullptr; }
ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : ordered_json(nullptr);
}
ordered_json number(const std::optional<std::int64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string now_iso8601() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  return text;
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// Google Benchmark's fields that its readers look at, then our facts as strings.
ordered_json context_json(const ComparisonResult& result) {
  ordered_json context;
  context["date"] = now_iso8601();
  context["host_name"] = host_name();
  context["executable"] = "diffbench";
  context["num_cpus"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  context["mhz_per_cpu"] = nullptr;
  context["caches"] = ordered_json::array();
  context["load_avg"] = ordered_json::array();
  for (const auto& [name, value] : result.context) {
    context[name] = value;
  }
#ifdef NDEBUG
  context["library_build_type"] = "release";
#else
  context["library_build_type"] = "debug";
#endif
  context["json_schema_version"] = 1;
  return context;
}

/// One entry of Google Benchmark's format for each sample, so that its tools can do their own
/// statistics (compare.py uses the Mann-Whitney U test on repetitions).
void append_benchmarks(ordered_json& benchmarks, const ComparisonResult& result, const Row& row,
                       int family) {
  const Problem& problem = result.problem;
  const std::string name = fmt::format("stencil/{}/{}/{}x{}", row.name, to_string(problem.dtype),
                                       problem.nx, problem.ny);
  int repetition = 0;
  for (const Sample& sample : row.samples) {
    const double steps = static_cast<double>(sample.iterations);
    const double seconds = sample.seconds_per_iteration();
    ordered_json entry;
    entry["name"] = name;
    entry["family_index"] = family;
    entry["per_family_instance_index"] = 0;
    entry["run_name"] = name;
    entry["run_type"] = "iteration";
    entry["repetitions"] = row.samples.size();
    entry["repetition_index"] = repetition++;
    entry["threads"] = row.provenance.threads;
    entry["iterations"] = sample.iterations;
    entry["real_time"] = number(1e9 * seconds);
    // The readers want a number. A peer's processor time is not visible from here, so its wall
    // time stands there, and a counter says so.
    entry["cpu_time"] = number(1e9 * sample.cpu_seconds.value_or(sample.seconds) / steps);
    entry["time_unit"] = "ns";
    entry["cells_per_second"] = number(static_cast<double>(problem.cells()) / seconds);
    entry["bytes_per_second"] = number(static_cast<double>(problem.bytes_per_step()) / seconds);
    entry["cpu_time_is_wall_time"] = sample.cpu_seconds ? 0 : 1;
    benchmarks.push_back(std::move(entry));
  }
}

ordered_json problem_json(const ComparisonResult& result) {
  const Problem& problem = result.problem;
  return {{"nx", problem.nx},
          {"ny", problem.ny},
          {"iterations", result.iterations},
          {"spacing", number(problem.spacing)},
          {"diffusivity", number(problem.diffusivity)},
          {"dt", number(problem.dt)},
          {"diffusion_number", number(problem.diffusion_number())},
          {"boundary", to_string(problem.boundary)},
          {"boundary_value", number(problem.boundary_value)},
          {"dtype", to_string(problem.dtype)},
          {"init", to_string(result.initial)},
          {"seed", result.initial.seed},
          {"bytes_per_step", problem.bytes_per_step()},
          {"flops_per_step", problem.flops_per_step()}};
}

ordered_json phases_json(const std::optional<Phases>& phases) {
  if (!phases) {
    return nullptr;
  }
  ordered_json json;
  for (const NamedPhase& phase : named_phases) {
    json[std::string(phase.name)] = number((*phases).*phase.member);
  }
  json["unexplained"] = number(phases->unexplained);
  json["wall"] = number(phases->wall);
  return json;
}

ordered_json busy_json(const std::optional<Phases>& phases) {
  if (!phases || !phases->busy) {
    return nullptr;
  }
  return {{"h2d", number(phases->busy->h2d)},
          {"compute", number(phases->busy->compute)},
          {"d2h", number(phases->busy->d2h)}};
}

ordered_json speedups_json(const Speedups& times) {
  return {{"kernels_only", number(times.kernels)},
          {"per_iteration", number(times.per_iteration)},
          {"warm", number(times.warm)},
          {"cold", number(times.cold)}};
}

ordered_json transfers_json(const std::optional<TransferStudy>& study) {
  if (!study) {
    return nullptr;
  }
  auto copy = [](const TransferStudy::CopySeconds& seconds) {
    return ordered_json{{"h2d_seconds", number(seconds.h2d)}, {"d2h_seconds", number(seconds.d2h)}};
  };
  const auto trips = study->trips_to_pay();
  return {{"backend", study->backend},
          {"transfer", to_string(study->transfer)},
          {"bytes", study->bytes},
          {"setup_seconds", number(study->setup_seconds)},
          {"pageable", copy(study->pageable)},
          {"chosen", copy(study->chosen)},
          {"saved_seconds_per_trip", number(study->saved_per_trip())},
          {"trips_to_pay", number(trips)}};
}

ordered_json verified_json(const Row& row) {
  if (!row.verification) {
    return nullptr;
  }
  const Verification& verification = *row.verification;
  return {{"bitwise", verification.bitwise},
          {"reference", "scalar loop, NumPy's order of operations"},
          {"steps", verification.steps},
          {"max_abs_error", number(verification.max_abs_error)},
          {"nonfinite", verification.nonfinite}};
}

ordered_json provenance_json(const Provenance& provenance) {
  ordered_json json = {{"threads", provenance.threads}};
  for (const auto& [name, value] : provenance.details) {
    json[name] = value;
  }
  return json;
}

ordered_json row_json(const ComparisonResult& result, const Row& row) {
  ordered_json json;
  json["backend"] = row.name;
  json["device"] = row.device;
  json["roundtrip_every"] =
      row.roundtrip_every > 0 ? ordered_json(row.roundtrip_every) : ordered_json(nullptr);
  json["status"] = to_string(row.status);
  json["reason"] = row.reason.empty() ? ordered_json(nullptr) : ordered_json(row.reason);
  json["provenance"] = row.verification ? provenance_json(row.provenance) : nullptr;
  json["verified"] = verified_json(row);
  const auto figures = metrics(result, row);
  auto figure = [&](double Metrics::*member) {
    return figures ? number((*figures).*member) : ordered_json(nullptr);
  };
  auto optional_figure = [&](std::optional<double> Metrics::*member) {
    return figures ? number((*figures).*member) : ordered_json(nullptr);
  };
  auto quartile = [&](double Quartiles::*member) {
    return figures ? number(figures->time.*member) : ordered_json(nullptr);
  };
  json["seconds_per_iteration"] = quartile(&Quartiles::median);
  json["seconds_per_iteration_quartiles"] = {{"min", quartile(&Quartiles::min)},
                                             {"q1", quartile(&Quartiles::q1)},
                                             {"q3", quartile(&Quartiles::q3)},
                                             {"max", quartile(&Quartiles::max)}};
  json["cells_per_second"] = figure(&Metrics::cells_per_second);
  json["bytes_per_second"] = figure(&Metrics::bytes_per_second);
  json["fraction_of_copy"] = optional_figure(&Metrics::fraction_of_copy);
  json["speedup_vs_baseline"] = optional_figure(&Metrics::vs_baseline);
  json["speedup_vs_best_cpu"] = optional_figure(&Metrics::vs_best_cpu);
  ordered_json samples = ordered_json::array();
  for (const Sample& sample : row.samples) {
    samples.push_back(number(sample.seconds));
  }
  json["samples_seconds"] = std::move(samples);
  json["iterations_per_sample"] =
      row.samples.empty() ? ordered_json(nullptr) : ordered_json(row.samples.front().iterations);
  json["setup_seconds"] = number(row.setup_seconds);
  json["phases"] = phases_json(row.warm);
  json["busy"] = busy_json(row.warm);
  auto wall = [](const std::optional<Phases>& phases) {
    return phases ? number(phases->wall) : ordered_json(nullptr);
  };
  json["end_to_end"] = {{"cold_seconds", wall(row.cold)},
                        {"warm_seconds", wall(row.warm)},
                        {"cold_phases", phases_json(row.cold)},
                        {"cold_busy", busy_json(row.cold)}};
  json["speedups"] = nullptr;
  if (row.on_device()) {
    json["speedups"] = {
        {"vs_baseline", speedups_json(speedups(result, row, result.find(result.baseline)))},
        {"vs_best_cpu", speedups_json(speedups(result, row, best_cpu(result)))}};
  }
  json["peak_host_bytes"] = number(row.peak_host_bytes);
  json["peak_device_bytes"] = number(row.peak_device_bytes);
  json["threads"] = row.verification ? ordered_json(row.provenance.threads) : ordered_json(nullptr);
  return json;
}

ordered_json copy_json(const std::optional<CopyBandwidth>& copy) {
  if (!copy) {
    return nullptr;
  }
  return {{"memcpy_bytes_per_second", number(copy->memcpy_bytes_per_second)},
          {"streaming_bytes_per_second", number(copy->streaming_bytes_per_second)},
          {"array_bytes", copy->array_bytes},
          {"threads", copy->threads}};
}

ordered_json field_json(const std::optional<FieldFacts>& field) {
  if (!field) {
    return nullptr;
  }
  return {{"steps", field->steps},
          {"sha256", field->sha256},
          {"min", number(field->summary.min)},
          {"max", number(field->summary.max)},
          {"sum", number(field->summary.sum)},
          {"nonfinite", field->summary.nonfinite}};
}

} // namespace

ordered_json to_json(const ComparisonResult& result) {
  ordered_json benchmarks = ordered_json::array();
  ordered_json rows = ordered_json::array();
  int family = 0;
  for (const Row& row : result.rows) {
    if (row.ranked()) {
      append_benchmarks(benchmarks, result, row, family++);
    }
    rows.push_back(row_json(result, row));
  }
  ordered_json json;
  json["context"] = context_json(result);
  json["benchmarks"] = std::move(benchmarks);
  json["diffbench"] = {{"schema", result_schema},
                       {"command", result.command},
                       {"interrupted", result.interrupted},
                       {"problem", problem_json(result)},
                       {"baseline", result.baseline},
                       {"budget_seconds", number(result.budget_seconds)},
                       {"copy", copy_json(result.copy)},
                       {"results", std::move(rows)},
                       {"transfers", transfers_json(result.transfers)},
                       {"field", field_json(result.field)},
                       {"peak_host_bytes", number(result.peak_host_bytes)},
                       {"notes", result.notes}};
  return json;
}

std::string format_json(const ComparisonResult& result) {
  // File names and the command line may hold any bytes; JSON only UTF-8.
  return to_json(result).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace diffbench::bench
