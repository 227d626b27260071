#include "telemetry_report.hpp"

#include "context.hpp"
#include "result_file.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;
using Value = std::optional<double>;

/// Cards average their power and move their counter in steps of about this (seconds): a stretch
/// that is shorter shows what the rows before it did, too.
constexpr double card_resolution = 0.1;

template <typename Member>
Value of_gpu(const RowTelemetry& row, Member member) {
  return row.gpu ? (*row.gpu).*member : std::nullopt;
}

Value watts(const RowTelemetry& row, const Value& joules) {
  return joules && row.seconds > 0 ? Value(row.watts(*joules)) : std::nullopt;
}

Value per_gigacell(const RowTelemetry& row, const Value& joules) {
  return joules && row.cell_updates > 0 ? Value(row.joules_per_gigacell(*joules)) : std::nullopt;
}

struct Column {
  const char* title;
  std::function<Value(const RowTelemetry&)> value;
  std::function<std::string(double)> format = format_figure;
};

const std::vector<Column>& columns() {
  using Gpu = RowTelemetry::Gpu;
  static const std::vector<Column> all = {
      {"CPU W", [](const RowTelemetry& row) { return watts(row, row.cpu_joules); }},
      {"peak", [](const RowTelemetry& row) { return row.cpu_peak_watts; }},
      {"CPU J/Gcell", [](const RowTelemetry& row) { return per_gigacell(row, row.cpu_joules); }},
      {"DRAM W", [](const RowTelemetry& row) { return watts(row, row.dram_joules); }},
      {"CPU GHz",
       [](const RowTelemetry& row) {
         return row.cpu_mhz ? Value(1e-3 * *row.cpu_mhz) : std::nullopt;
       }},
      {"GPU W", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::average_watts); }},
      {"peak", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::peak_watts); }},
      {"GPU J/Gcell",
       [](const RowTelemetry& row) { return per_gigacell(row, of_gpu(row, &Gpu::joules)); }},
      {"utilization",
       [](const RowTelemetry& row) { return of_gpu(row, &Gpu::utilization_percent); },
       [](double percent) { return fmt::format("{:.0f} %", percent); }},
      {"SM MHz", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::sm_mhz); }},
      {"memory", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::memory_bytes); },
       [](double bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); }},
      {"deg C", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::celsius); }},
      {"throttled", [](const RowTelemetry& row) { return of_gpu(row, &Gpu::throttled_seconds); },
       format_seconds},
  };
  return all;
}

/// Rows with telemetry.
std::vector<const Row*> measured_rows(const ComparisonResult& result) {
  std::vector<const Row*> rows;
  for (const Row& row : result.rows) {
    if (row.telemetry) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::string format_table(const std::vector<const Row*>& rows) {
  std::vector<const Column*> shown;
  TextTable::Cells header{"telemetry", "timed", "readings"};
  for (const Column& column : columns()) {
    if (std::ranges::any_of(
            rows, [&](const Row* row) { return column.value(*row->telemetry).has_value(); })) {
      shown.push_back(&column);
      header.emplace_back(column.title);
    }
  }
  TextTable table(std::move(header));
  for (const Row* row : rows) {
    const RowTelemetry& telemetry = *row->telemetry;
    TextTable::Cells cells{row->name, format_seconds(telemetry.seconds),
                           std::to_string(telemetry.readings)};
    for (const Column* column : shown) {
      const Value value = column->value(telemetry);
      cells.push_back(value ? column->format(*value) : "-");
    }
    table.add(std::move(cells));
  }
  return table.format();
}

/// What a reader of the GPU's figures must know.
std::string format_gpu_lines(const std::vector<const Row*>& rows) {
  std::string text;
  bool any = false;
  bool too_short = false;
  for (const Row* row : rows) {
    if (!row->telemetry->gpu) {
      continue;
    }
    any = true;
    too_short = too_short || row->telemetry->seconds < card_resolution * row->telemetry->samples;
    if (!row->telemetry->gpu->throttle_reasons.empty()) {
      text += fmt::format("throttled: {}: {}\n", row->name,
                          fmt::join(row->telemetry->gpu->throttle_reasons, ", "));
    }
  }
  if (any) {
    text +=
        "utilization is the share of time in which at least one kernel ran, not of the card that "
        "it used; power draw is the better proxy of that\n";
  }
  if (too_short) {
    text += fmt::format(
        "note: a card's power and energy are figures of the last {} or more; samples are shorter, "
        "so those of rows that took turns are mixed: more --iters, or one --backend, tells them "
        "apart\n",
        format_seconds(card_resolution));
  }
  return text;
}

} // namespace

std::string format_telemetry(const ComparisonResult& result) {
  if (!result.telemetry) {
    return "";
  }
  const std::vector<const Row*> rows = measured_rows(result);
  std::string text = "\n";
  if (!rows.empty()) {
    text += format_table(rows) + format_gpu_lines(rows);
  }
  for (const TelemetrySource& source : result.telemetry->sources) {
    text += fmt::format("{}: {}{}\n", source.name,
                        source.available ? "" : "not available: ", source.detail);
  }
  return text;
}

ordered_json telemetry_json(const std::optional<RowTelemetry>& row) {
  if (!row) {
    return nullptr;
  }
  ordered_json json = {
      {"seconds", number(row->seconds)},
      {"cell_updates", number(row->cell_updates)},
      {"readings", row->readings},
      {"cpu",
       {{"joules", number(row->cpu_joules)},
        {"average_watts", number(watts(*row, row->cpu_joules))},
        {"peak_watts", number(row->cpu_peak_watts)},
        {"joules_per_1e9_cell_updates", number(per_gigacell(*row, row->cpu_joules))},
        {"dram_joules", number(row->dram_joules)},
        {"mhz", number(row->cpu_mhz)}}},
      {"gpu", nullptr}};
  if (row->gpu) {
    const RowTelemetry::Gpu& gpu = *row->gpu;
    json["gpu"] = {{"joules", number(gpu.joules)},
                   {"average_watts", number(gpu.average_watts)},
                   {"peak_watts", number(gpu.peak_watts)},
                   {"joules_per_1e9_cell_updates", number(per_gigacell(*row, gpu.joules))},
                   {"utilization_percent", number(gpu.utilization_percent)},
                   {"memory_bytes", number(gpu.memory_bytes)},
                   {"sm_mhz", number(gpu.sm_mhz)},
                   {"memory_mhz", number(gpu.memory_mhz)},
                   {"celsius", number(gpu.celsius)},
                   {"throttled_seconds", number(gpu.throttled_seconds)},
                   {"throttle_reasons", gpu.throttle_reasons}};
  }
  return json;
}

ordered_json telemetry_json(const std::optional<TelemetrySources>& telemetry) {
  if (!telemetry) {
    return nullptr;
  }
  ordered_json sources = ordered_json::array();
  for (const TelemetrySource& source : telemetry->sources) {
    sources.push_back(
        {{"name", source.name}, {"available", source.available}, {"detail", source.detail}});
  }
  return {{"period_seconds", number(telemetry->period_seconds)}, {"sources", std::move(sources)}};
}

} // namespace diffbench::bench
