// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "metrics.hpp"
#include "speedup.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace diffbench::bench {

namespace {

// One unit for the whole table, so that a reader can add it up.
std::string format_ms(const std::optional<double>& seconds) {
  return seconds ? format_figure(1e3 * *seconds) : no_value;
}

TextTable::Cells ledger_line(const std::string& name, const Phases& phases) {
  TextTable::Cells cells{name};
  for (const NamedPhase& phase : named_phases) {
    cells.push_back(format_ms(phases.*phase.member));
  }
  cells.push_back(format_ms(phases.unexplained));
  cells.push_back(format_ms(phases.wall));
  for (double BusyTimes::*engine : {&BusyTimes::h2d, &BusyTimes::compute, &BusyTimes::d2h}) {
    cells.push_back(phases.busy ? format_ms((*phases.busy).*engine) : no_value);
  }
  return cells;
}

struct SpeedupLine : Speedups {
  std::string of, against;
};

constexpr Column<SpeedupLine> speedup_columns[] = {
    {nullptr, "speed-up of", as_text, field<&SpeedupLine::of>},
    {nullptr, "against", as_text, field<&SpeedupLine::against>},
    {"kernels_only", "kernels only", as_ratio, field<&SpeedupLine::kernels>},
    {"per_iteration", "per iteration", as_ratio, field<&SpeedupLine::per_iteration>},
    {"warm", "warm run", as_ratio, field<&SpeedupLine::warm>},
    {"cold", "cold run", as_ratio, field<&SpeedupLine::cold>},
};

} // namespace

std::string format_ledger(const ComparisonResult& result) {
  TextTable::Cells header{"phases in ms"};
  for (const NamedPhase& phase : named_phases) {
    header.emplace_back(phase.name);
  }
  header.insert(header.end(), {"unexplained", "= wall", "busy: h2d", "compute", "d2h"});
  TextTable table(std::move(header));
  bool any = false;
  for (const Row& row : result.rows) {
    if (!row.on_device()) {
      continue;
    }
    for (const auto& [phases, kind] :
         {std::pair{&row.warm, "warm"}, std::pair{&row.cold, "cold"}}) {
      if (*phases) {
        any = true;
        table.add(ledger_line(fmt::format("{}, {}", row.name, kind), **phases));
      }
    }
  }
  return any ? "\n" + table.format() : "";
}

std::string format_speedups(const ComparisonResult& result) {
  const Row* baseline = result.find(result.baseline);
  const Row* cpu = best_cpu(result);
  std::vector<SpeedupLine> lines;
  for (const Row& row : result.rows) {
    for (const Row* against : {baseline, cpu != baseline ? cpu : nullptr}) {
      if (row.on_device() && row.ranked() && against != nullptr && against->ranked() &&
          against != &row) {
        lines.push_back({speedups(result, row, against), row.name, against->name});
      }
    }
  }
  return lines.empty() ? "" : "\n" + format_rows(speedup_columns, lines);
}

Value speedups_json(const ComparisonResult& result, const Row& row, const Row* against) {
  return object_of(speedup_columns, {speedups(result, row, against), "", ""});
}

std::string format_transfers(const ComparisonResult& result) {
  if (!result.transfers) {
    return "";
  }
  const TransferStudy& study = *result.transfers;
  const std::string bytes = format_bytes(study.bytes);
  TextTable table(
      {fmt::format("copies of {}", bytes), "to the device", "back", "GB/s", "GB/s back"});
  auto line = [&](std::string name, const TransferStudy::CopySeconds& seconds) {
    auto rate = [&](double each) {
      return format_figure(1e-9 * static_cast<double>(study.bytes) / each);
    };
    table.add({std::move(name), format_seconds(seconds.h2d), format_seconds(seconds.d2h),
               rate(seconds.h2d), rate(seconds.d2h)});
  };
  const std::string_view way = to_string(study.transfer);
  line("pageable", study.pageable);
  line(std::string(way), study.chosen);

  const double saved = study.saved_per_trip();
  std::string cost = study.setup_seconds > 0
                         ? fmt::format("cost {} once", format_seconds(study.setup_seconds))
                         : std::string("cost nothing more to set up");
  std::string gain = saved > 0 ? fmt::format("saves {} a trip up and back", format_seconds(saved))
                               : fmt::format("loses {} a trip up and back", format_seconds(-saved));
  const auto trips = study.trips_to_pay();
  std::string when = "so it never pays";
  if (study.is_open) {
    gain = "makes no trip up and back shorter or longer that its samples show";
    when = "so whether it pays is uncertain";
  } else if (trips && *trips <= 1) {
    when = "so it pays at once";
  } else if (trips) {
    when = fmt::format("so it pays from {} trips on", *trips);
  }
  return concludes(evidence(result.disturbed))
             ? fmt::format("\n{}{} memory {} and {} ({}), {}\n", table.format(), way, cost, gain,
                           study.backend, when)
             : "\n" + table.format();
}

std::string device_verdict(const ComparisonResult& result) {
  const Row* row =
      fastest(result, [](const Row& other) { return other.on_device() && !other.is_peer; });
  if (row == nullptr) {
    return "";
  }
  const Row* cpu = best_cpu(result);
  const Row* against = cpu != nullptr ? cpu : result.find(result.baseline);
  if (against == nullptr || against == row || !against->ranked()) {
    return fmt::format("No CPU row ran beside {}, so it cannot be compared with the CPU.",
                       row->name);
  }
  const Speedups times = speedups(result, *row, against);
  std::vector<std::string> parts;
  auto part = [&](const std::optional<double>& ratio, const char* measure) {
    if (ratio) {
      parts.push_back(format_pace(*ratio) + measure);
    }
  };
  part(times.kernels, " by its kernels alone");
  part(times.warm, " in a warm run with both copies");
  part(times.cold, " in a cold run");
  std::string text = fmt::format(
      "Against {}, {} is {}", against->name, row->name,
      parts.empty() ? "not comparable: it has no time" : fmt::format("{}", fmt::join(parts, ", ")));
  const Ratio ratio = ratio_in_run(row->samples, against->samples, result.stopping);
  if (!is_difference(judge(ratio, result.least_effect))) {
    text += order_doubt(ratio, row->name);
  } else if (row->cold && against->cold) {
    const auto iterations = iterations_to_pay(result, *row, *against);
    text += iterations ? fmt::format("; a run of its own pays from {} iterations on", *iterations)
                       : std::string("; a run of its own never pays");
  }
  return text + ".";
}

} // namespace diffbench::bench
