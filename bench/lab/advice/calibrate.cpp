// SPDX-License-Identifier: Apache-2.0
// The verb: which backends, on which grids, and where the profile goes.
#include "columns.hpp"
#include "cost_profile.hpp"
#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "machine_calibration.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "selection.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct CalibrateOptions {
  RowPlan run;
  std::vector<Dtype> dtypes;
  std::int64_t largest = largest_side;
  CalibrationExtent extent = CalibrationExtent::thorough;
  std::string out; ///< empty: this machine's profile
  LabOutput output;
};

/// Backends that can be timed here.
std::vector<PlannedRow> timed_rows(const RowPlan& plan) {
  std::vector<PlannedRow> planned_rows = select_backends(plan);
  std::erase_if(planned_rows, [](const PlannedRow& planned) {
    return !planned.probe.available || planned.backend.device == DeviceKind::emulated;
  });
  return planned_rows;
}

/// The mean seconds of a cell and step in a long call.
double cell_seconds(const GridCost& grid) {
  const StepsCost& last = grid.steps.back();
  return last.seconds / static_cast<double>(last.steps * grid.side * grid.side);
}

const GridCost* grid_of(const WayCost& way, std::int64_t side) {
  const auto grid = std::ranges::find(way.grids, side, &GridCost::side);
  return grid == way.grids.end() ? nullptr : &*grid;
}

/// Some small, middle and large grids that were measured, and the largest.
std::set<std::int64_t> shown_sides(const CostProfile& profile) {
  std::int64_t largest = 0;
  for (const WayCost& way : profile.ways) {
    largest = std::max(largest, way.grids.back().side);
  }
  std::set<std::int64_t> shown{largest};
  for (const std::int64_t side : {64, 512, 2048}) {
    if (side < largest) {
      shown.insert(side);
    }
  }
  return shown;
}

/// The parameters as people know them, each from the grid that shows it best.
std::string parameters_table(const CostProfile& profile) {
  const std::set<std::int64_t> shown = shown_sides(profile);
  TextTable::Cells header{"backend", "dtype", "threads", "setup", "call", "copy"};
  for (const std::int64_t side : shown) {
    header.push_back(fmt::format("ns/cell {}", side));
  }
  TextTable table(header);
  for (const WayCost& way : profile.ways) {
    const GridCost& small = way.grids.front();
    const GridCost& large = way.grids.back();
    const double call = 2 * small.steps[0].seconds - steps_seconds(small, 2);
    const double bytes = static_cast<double>(large.side * large.side) *
                         (way.dtype == to_string(Dtype::float32) ? 4 : 8);
    TextTable::Cells cells{way.backend,
                           way.dtype,
                           std::to_string(large.threads),
                           format_seconds(small.setup_seconds),
                           format_seconds(std::max(0.0, call)),
                           as_rate(bytes / large.copy_in_seconds)};
    for (const std::int64_t side : shown) {
      const GridCost* const grid = grid_of(way, side);
      cells.push_back(grid == nullptr ? no_value : format_figure(1e9 * cell_seconds(*grid)));
    }
    table.add(std::move(cells));
  }
  return table.format();
}

/// "AMD EPYC, 2 usable CPUs; cuda: not in this build".
std::string machine_text() {
  const Facts facts = run_context();
  return fmt::format("{}, {} usable CPUs; CUDA: {}", fact(facts, "cpu_model"),
                     fact(facts, "usable_cpus"), fact(facts, "cuda"));
}

/// Whole, of this machine and build, and better than what a disturbed minute gives.
bool is_sound_profile(const std::filesystem::path& path) {
  try {
    const CostProfile profile = read_profile(path);
    return !profile.disturbed && !profile.interrupted && profile.foreign.empty();
  } catch (const Error&) { // there is none, or what is there is no profile
    return false;
  }
}

LabReport calibrate(const CalibrateOptions& typed, const std::vector<PlannedRow>& planned_rows,
                    const std::filesystem::path& path, const std::string& command,
                    Progress& progress) {
  LabReport report;
  CostProfile profile;
  const LoadWatch load;
  try {
    MachineCalibration measured = calibrate_machine(planned_rows, typed.dtypes, typed.largest,
                                                    progress, report.notes, typed.extent);
    profile.ways = std::move(measured.ways);
    report.interrupted = !measured.complete;
  } catch (const Interrupted&) {
    report.interrupted = true;
    report.done =
        "No profile was written: the calibration was interrupted before it had "
        "measured anything.";
    return report;
  }
  mark_disturbed(report, load);
  profile.transfer = to_string(typed.run.session.transfer);
  profile.machine = machine_text();
  report.text = parameters_table(profile);
  report.data = to_json(profile);
  report.rows = grid_lines(profile);
  if (profile.ways.empty()) {
    report.outcome = {exit_error, "nothing could be calibrated, see the notes above"};
    report.done = "No profile was written.";
    return report;
  }
  if (report.interrupted && is_sound_profile(path)) {
    report.done =
        fmt::format("No profile was written: {} is kept, since it is complete.", path.string());
    return report;
  }
  if (report.disturbed && is_sound_profile(path)) {
    report.outcome = {exit_error,
                      "the profile of a quiet machine is kept: calibrate again when "
                      "nothing else runs"};
    report.done = fmt::format(
        "No profile was written: {} is kept, since it is of a quiet "
        "machine.",
        path.string());
    return report;
  }
  report.done = fmt::format(
      "{} ways to run are calibrated; `diffbench advise --grid N --iters "
      "K` predicts from {}.",
      profile.ways.size(), path.string());
  try {
    write_atomically(path, [&](std::ostream& file) {
      file << to_text(lab_result("calibrate", command, report));
    });
  } catch (const Error& error) { // what was measured can still be shown
    report.outcome = {exit_error, error.what()};
    report.done = "No profile was written.";
  }
  return report;
}

/// Before anything is waited for.
void tell_expected(const CalibrateOptions& typed, std::size_t rows, std::ostream& err) {
  const bool brief = typed.extent == CalibrationExtent::brief;
  const double seconds =
      std::min(expected_calibration_seconds(rows, typed.dtypes.size(), typed.largest, typed.extent),
               brief ? 60. : 1e9);
  if (seconds > longest_without_progress) {
    tell(err, fmt::format("about {}: {} backend{}, grids up to {}x{}, {}; Ctrl-C keeps what was "
                          "measured",
                          seconds < 90 ? fmt::format("{:.0f} s", seconds)
                                       : fmt::format("{:.0f} min", seconds / 60),
                          rows, rows == 1 ? "" : "s", typed.largest, typed.largest,
                          brief ? "once" : fmt::format("{} times", calibration_passes)));
  }
}

/// Where the profile goes: `out`, or this machine's place. Refuses what cannot be written.
std::filesystem::path profile_place(const std::string& out) {
  const std::filesystem::path path =
      out.empty() ? default_profile_path() : std::filesystem::path(out);
  if (out.empty()) {
    std::error_code error; // a directory that cannot be made shows when the file is tried
    std::filesystem::create_directories(path.parent_path(), error);
  }
  check_writable_file(out.empty() ? "profile" : "--out", path, kind_of_output::json);
  return path;
}

} // namespace

void calibrate_this_machine(std::ostream& err, Progress& progress) {
  CalibrateOptions defaults;
  defaults.extent = CalibrationExtent::brief;
  defaults.dtypes = {Dtype::float32, Dtype::float64};
  const std::filesystem::path path = profile_place("");
  const std::vector<PlannedRow> planned_rows = timed_rows(defaults.run);
  tell_expected(defaults, planned_rows.size(), err);
  const LabReport report = calibrate(defaults, planned_rows, path, "diffbench calibrate", progress);
  if (report.interrupted) {
    throw Interrupted();
  }
  if (report.outcome.exit_code != exit_ok) {
    throw Error(report.outcome.complaint);
  }
}

Action declare_calibrate(OptionList& options) {
  const auto typed = std::make_shared<CalibrateOptions>();
  options.group("What is measured");
  declare_backends(options, typed->run.backends,
                   "backend to calibrate, may be repeated (default: all)");
  options.values("--dtype NAME", "float32, float64 (default: both)",
                 [&dtypes = typed->dtypes](std::string_view option, const std::string& name) {
                   dtypes.push_back(parse_as(option, name, [](std::string_view text) {
                     return dtype_names.parse(text);
                   }));
                 });
  options.choices(dtype_names.names());
  declare_threads(options, typed->run.session.threads, "for threaded backends", "the usable CPUs");
  options.integer("--largest N", typed->largest, {smallest_side, largest_side},
                  "side of the largest grid");
  declare_transfer(options, typed->run.session);
  declare_device_choice(options, typed->run.session, typed->run.device_chosen);
  typed->output.declare(options);
  options.text("--out FILE", typed->out,
               "where the profile goes (default: $XDG_CACHE_HOME/diffbench/profile.json)");
  return [typed](const Invocation& invocation) {
    if (typed->dtypes.empty()) {
      typed->dtypes = {Dtype::float32, Dtype::float64};
    }
    const std::filesystem::path path = profile_place(typed->out);
    const std::vector<PlannedRow> planned_rows = timed_rows(typed->run);
    return run_experiment("calibrate", typed->output, invocation, [&](Progress& progress) {
      if (typed->output.progress) {
        tell_expected(*typed, planned_rows.size(), invocation.err);
      }
      return calibrate(*typed, planned_rows, path, invocation.command, progress);
    });
  };
}

} // namespace diffbench::bench
