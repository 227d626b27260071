// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "columns.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace diffbench::bench {

namespace {

/// Cards average their power and move their counter in steps of about this (seconds): a stretch
/// that is shorter shows what the rows before it did, too.
constexpr double card_resolution = 0.1;

using Gpu = RowTelemetry::Gpu;

struct Metered : RowTelemetry {
  std::string name; ///< of the row
};

template <auto joules>
Value watts(const Metered& row) {
  return row.*joules && row.seconds > 0 ? Value(row.watts(*(row.*joules))) : Value();
}

Value per_gigacell(const Metered& row, const std::optional<double>& joules) {
  return joules && row.cell_updates > 0 ? Value(row.joules_per_gigacell(*joules)) : Value();
}

constexpr Column<Metered> meter_columns[] = {
    {nullptr, "telemetry", as_text, field<&Metered::name>},
    {"seconds", "timed", as_seconds, field<&Metered::seconds>},
    {"cell_updates", nullptr, as_text, field<&Metered::cell_updates>},
    {"readings", "readings", as_text, field<&Metered::readings>},
    {"cpu.joules", nullptr, as_text, field<&Metered::cpu_joules>},
    {"cpu.average_watts", "CPU W", as_figure, watts<&Metered::cpu_joules>},
    {"cpu.peak_watts", "peak", as_figure, field<&Metered::cpu_peak_watts>},
    {"cpu.joules_per_1e9_cell_updates", "CPU J/Gcell", as_figure,
     [](const Metered& row) { return per_gigacell(row, row.cpu_joules); }},
    {nullptr, "DRAM W", as_figure, watts<&Metered::dram_joules>},
    {"cpu.dram_joules", nullptr, as_text, field<&Metered::dram_joules>},
    {"cpu.mhz", "CPU GHz", [](const Value& mhz) { return as_figure(1e-3 * mhz.number()); },
     field<&Metered::cpu_mhz>},
    {"gpu.joules", nullptr, as_text, field<&Metered::gpu, &Gpu::joules>},
    {"gpu.average_watts", "GPU W", as_figure, field<&Metered::gpu, &Gpu::average_watts>},
    {"gpu.peak_watts", "peak", as_figure, field<&Metered::gpu, &Gpu::peak_watts>},
    {"gpu.joules_per_1e9_cell_updates", "GPU J/Gcell", as_figure,
     [](const Metered& row) { return row.gpu ? per_gigacell(row, row.gpu->joules) : Value(); }},
    {"gpu.utilization_percent", "utilization",
     [](const Value& percent) { return fmt::format("{:.0f} %", percent.number()); },
     field<&Metered::gpu, &Gpu::utilization_percent>},
    {"gpu.sm_mhz", "SM MHz", as_figure, field<&Metered::gpu, &Gpu::sm_mhz>},
    {"gpu.memory_bytes", "memory", as_bytes, field<&Metered::gpu, &Gpu::memory_bytes>},
    {"gpu.memory_mhz", nullptr, as_text, field<&Metered::gpu, &Gpu::memory_mhz>},
    {"gpu.celsius", "deg C", as_figure, field<&Metered::gpu, &Gpu::celsius>},
    {"gpu.throttled_seconds", "throttled", as_seconds,
     field<&Metered::gpu, &Gpu::throttled_seconds>},
    {"gpu.throttle_reasons", nullptr, as_text, field<&Metered::gpu, &Gpu::throttle_reasons>},
};

/// Rows with telemetry.
std::vector<Metered> metered_rows(const ComparisonResult& result) {
  std::vector<Metered> rows;
  for (const Row& row : result.rows) {
    if (row.telemetry) {
      rows.push_back({*row.telemetry, row.name});
    }
  }
  return rows;
}

/// What a reader of the GPU's figures must know.
std::string format_gpu_lines(const std::vector<Metered>& rows) {
  std::string text;
  bool any = false;
  bool too_short = false;
  for (const Metered& row : rows) {
    if (!row.gpu) {
      continue;
    }
    any = true;
    too_short = too_short || row.seconds < card_resolution * row.samples;
    if (!row.gpu->throttle_reasons.empty()) {
      text +=
          fmt::format("throttled: {}: {}\n", row.name, fmt::join(row.gpu->throttle_reasons, ", "));
    }
  }
  if (any) {
    text +=
        "utilization is the share of time in which at least one kernel ran, not how much of the "
        "card it used; power draw shows that better\n";
  }
  if (too_short) {
    text += fmt::format(
        "note: a card's power and energy cover the last {} or more; samples are shorter, so rows "
        "that took turns are mixed: use more --iters, or one --backend\n",
        format_seconds(card_resolution));
  }
  return text;
}

} // namespace

std::string format_telemetry(const ComparisonResult& result) {
  if (!result.telemetry) {
    return "";
  }
  const std::vector<Metered> rows = metered_rows(result);
  std::string text = "\n";
  if (!rows.empty()) {
    TextTable table = table_of(meter_columns);
    for (const Metered& row : rows) {
      add_row(table, meter_columns, row);
    }
    table.drop_empty();
    text += table.format() + format_gpu_lines(rows);
  }
  for (const TelemetrySource& source : result.telemetry->sources) {
    text += fmt::format("{}: {}{}\n", source.name,
                        source.available ? "" : "not available: ", source.detail);
  }
  return text;
}

Value telemetry_json(const std::optional<RowTelemetry>& row) {
  if (!row) {
    return nullptr;
  }
  Value json = object_of(meter_columns, {*row, ""});
  if (!row->gpu) {
    json["gpu"] = nullptr;
  }
  return json;
}

Value telemetry_json(const std::optional<TelemetrySources>& telemetry) {
  if (!telemetry) {
    return nullptr;
  }
  return {
      {"period_seconds", telemetry->period_seconds},
      {"sources", Value::each(telemetry->sources, [](const TelemetrySource& source) -> Value {
         return {{"name", source.name}, {"available", source.available}, {"detail", source.detail}};
       })}};
}

} // namespace diffbench::bench
