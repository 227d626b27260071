// SPDX-License-Identifier: Apache-2.0
#include "result_file.hpp"

#include "json.hpp"
#include "statistics.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <numeric>

namespace diffbench::bench {

std::string now_iso8601() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64] = "";
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  return std::string(text, length).insert(length - 2, ":");
}

std::optional<std::time_t> instant_of(const std::string& date) {
  std::tm parts{};
  const char* end = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%S%z", &parts);
  if (end == nullptr || *end != '\0') {
    return std::nullopt;
  }
  const long offset = parts.tm_gmtoff; // timegm() clears it
  return ::timegm(&parts) - offset;
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

namespace {

/// The load averages of 1, 5 and 15 minutes when the program began, before its own threads are in
/// them; empty where the system does not tell.
std::vector<double> load_averages() {
  std::vector<double> averages(3);
  averages.resize(static_cast<std::size_t>(std::max(0, ::getloadavg(averages.data(), 3))));
  return averages;
}
const std::vector<double> load_at_start = load_averages();

/// Google Benchmark's fields that its readers look at, then our facts as strings.
Value context_json(const Facts& facts) {
  Value context;
  context["date"] = now_iso8601();
  context["host_name"] = host_name();
  context["executable"] = "diffbench";
  context["num_cpus"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  context["mhz_per_cpu"] = nullptr;
  context["caches"] = Value::list();
  context["load_avg"] = load_at_start;
  for (const auto& [name, value] : facts) {
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

constexpr std::array<const char*, 4> aggregate_names{"mean", "median", "stddev", "cv"};

/// In the order of the names, of two values at least.
std::array<double, 4> aggregates_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::reduce(values.begin(), values.end()) / count;
  const double squares =
      std::transform_reduce(values.begin(), values.end(), 0.0, std::plus(),
                            [&](double value) { return (value - mean) * (value - mean); });
  const double deviation = std::sqrt(squares / (count - 1));
  return {mean, median_of(values), deviation, deviation / mean};
}

/// Of the entries of a series, as Google Benchmark has them, for tools that keep one entry a name.
void append_aggregates(Value& benchmarks, const std::vector<Value>& entries,
                       const std::vector<std::string>& measured) {
  for (std::size_t i = 0; i < aggregate_names.size(); ++i) {
    Value entry = entries.front();
    entry["name"] = entry.find("name").plain_text() + "_" + aggregate_names.at(i);
    entry["run_type"] = "aggregate";
    entry.erase("repetition_index");
    entry["aggregate_name"] = aggregate_names.at(i);
    entry["aggregate_unit"] = aggregate_names.at(i) == std::string("cv") ? "percentage" : "time";
    entry["iterations"] = entries.size();
    for (const std::string& key : measured) {
      std::vector<double> values;
      std::ranges::transform(entries, std::back_inserter(values),
                             [&](const Value& each) { return each.find(key).number(); });
      entry[key] = aggregates_of(values).at(i);
    }
    benchmarks.push_back(std::move(entry));
  }
}

void append_entries(Value& benchmarks, const SampleSeries& series, std::size_t family) {
  int repetition = 0;
  std::vector<Value> entries;
  std::vector<std::string> measured{"real_time", "cpu_time"};
  for (const auto& [key, figure] : series.per_iteration) {
    measured.push_back(key);
  }
  for (const Sample& sample : series.samples) {
    const double iterations = static_cast<double>(sample.iterations);
    const double seconds = sample.seconds_per_iteration();
    Value entry;
    entry["name"] = series.name;
    entry["family_index"] = family;
    entry["per_family_instance_index"] = 0;
    entry["run_name"] = series.name;
    entry["run_type"] = "iteration";
    entry["repetitions"] = series.samples.size();
    entry["repetition_index"] = repetition++;
    entry["threads"] = series.threads;
    entry["iterations"] = sample.iterations;
    entry["real_time"] = 1e9 * seconds;
    // The readers want a number. The processor time of another process is not visible from here, so
    // the wall time stands there, and a counter says so.
    entry["cpu_time"] = 1e9 * sample.cpu_seconds.value_or(sample.seconds) / iterations;
    entry["time_unit"] = "ns";
    for (const auto& [name, amount] : series.per_iteration) {
      entry[name] = amount / seconds;
    }
    entry["cpu_time_is_wall_time"] = sample.cpu_seconds ? 0 : 1;
    entry["stolen"] = 1e9 * sample.stolen_seconds / iterations;
    entry["retaken"] = sample.retaken;
    benchmarks.push_back(entry);
    entries.push_back(std::move(entry));
  }
  if (entries.size() > 1) {
    append_aggregates(benchmarks, entries, measured);
  }
}

} // namespace

Value result_file(const Facts& context, const std::vector<SampleSeries>& series, Value own) {
  Value benchmarks = Value::list();
  for (std::size_t family = 0; family < series.size(); ++family) {
    append_entries(benchmarks, series[family], family);
  }
  Value json;
  json["context"] = context_json(context);
  json["benchmarks"] = std::move(benchmarks);
  json["diffbench"] = std::move(own);
  return json;
}

std::string to_text(const Value& value) {
  return json_of(value).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace diffbench::bench
