// The verb: which backends, on which grids, and where the profile goes.
#include "calibrate.hpp"

#include "cost_profile.hpp"
#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "machine_calibration.hpp"
#include "option_groups.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "selection.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct CalibrateOptions {
  std::vector<std::string> backends, dtypes;
  GpuGroup gpu;
  std::string threads, out, largest_text;
  LabOutput output;

  void declare(CLI::App& app) {
    begin_group(app, "What is measured");
    declare_values(app, "--backend", backends, "NAME",
                   "backend to calibrate, may be repeated (default: all)");
    declare_values(app, "--dtype", dtypes, "NAME", "float32, float64 (default: both)");
    declare_value(app, "--threads", threads, "N",
                  "for threaded backends (default: the usable CPUs)");
    declare_value(app, "--largest", largest_text, "N", "side of the largest grid (default 4096)");
    gpu.declare(app);
    output.declare(app);
    declare_value(app, "--out", out, "FILE",
                  "where the profile goes (default: $XDG_CACHE_HOME/diffbench/profile.json)");
  }

  [[nodiscard]] std::int64_t largest() const {
    std::int64_t side = largest_side;
    assign_integer("--largest", largest_text, smallest_side, largest_side, side);
    return side;
  }

  [[nodiscard]] std::vector<Dtype> chosen_dtypes() const {
    if (dtypes.empty()) {
      return {Dtype::float32, Dtype::float64};
    }
    std::vector<Dtype> chosen;
    for (const std::string& name : dtypes) {
      assign("--dtype", name, chosen.emplace_back(), parse_dtype);
    }
    return chosen;
  }

  [[nodiscard]] Options options() const {
    Options options;
    RunGroup run;
    run.backends = backends;
    run.threads = threads;
    run.read(options);
    gpu.read(options);
    return options;
  }
};

/// Backends that can be timed here.
std::vector<Candidate> timed_candidates(const Options& options) {
  std::vector<Candidate> candidates = select_backends(options);
  std::erase_if(candidates, [](const Candidate& candidate) {
    return !candidate.probe.available || candidate.backend.device == DeviceKind::emulated;
  });
  return candidates;
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
    TextTable::Cells cells{
        way.backend,
        way.dtype,
        std::to_string(large.threads),
        format_seconds(small.setup_seconds),
        format_seconds(std::max(0.0, call)),
        fmt::format("{} GB/s", format_figure(bytes / large.copy_in_seconds / 1e9))};
    for (const std::int64_t side : shown) {
      const GridCost* const grid = grid_of(way, side);
      cells.push_back(grid == nullptr ? "-" : format_figure(1e9 * cell_seconds(*grid)));
    }
    table.add(std::move(cells));
  }
  return table.format();
}

/// "AMD EPYC, 2 usable CPUs; cuda: not in this build".
std::string machine_text() {
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : run_context()) {
    facts[name] = value;
  }
  return fmt::format("{}, {} usable CPUs; CUDA: {}", facts["cpu_model"], facts["usable_cpus"],
                     facts["cuda"]);
}

LabReport calibrate(const CalibrateOptions& typed, const Options& options,
                    const std::vector<Candidate>& candidates, const std::filesystem::path& path,
                    const std::string& command, Progress& progress) {
  LabReport report;
  CostProfile profile;
  try {
    profile.ways = calibrate_machine(candidates, typed.chosen_dtypes(), typed.largest(), progress,
                                     report.notes);
  } catch (const Interrupted&) {
    report.interrupted = true;
    report.sentence = "Interrupted: no profile was written, since half of one would mislead.";
    return report;
  }
  profile.transfer = to_string(options.session.transfer);
  profile.machine = machine_text();
  report.text = parameters_table(profile);
  report.data = to_json(profile);
  if (profile.ways.empty()) {
    report.outcome = {exit_error, "nothing could be calibrated, see the notes above"};
    report.sentence = "No profile was written.";
    return report;
  }
  report.sentence = fmt::format(
      "{} ways to run are calibrated; `diffbench advise --grid N --iters "
      "K` predicts from {}.",
      profile.ways.size(), path.string());
  try {
    write_atomically(path, [&](std::ostream& file) {
      file << to_text(lab_result("calibrate", command, report));
    });
  } catch (const Error& error) { // what was measured can still be shown
    report.outcome = {exit_error, error.what()};
    report.sentence = "No profile was written.";
  }
  return report;
}

} // namespace

Action declare_calibrate(CLI::App& app) {
  auto typed = std::make_shared<CalibrateOptions>();
  typed->declare(app);
  return [typed](const Invocation& invocation) {
    const Options options = typed->options();
    (void)typed->largest();
    (void)typed->chosen_dtypes();
    const std::filesystem::path path =
        typed->out.empty() ? default_profile_path() : std::filesystem::path(typed->out);
    if (typed->out.empty()) {
      std::error_code error; // a directory that cannot be made shows when the file is tried
      std::filesystem::create_directories(path.parent_path(), error);
    }
    check_writable_file(typed->out.empty() ? "profile" : "--out", path);
    typed->output.other = path;
    const std::vector<Candidate> candidates = timed_candidates(options);
    return run_experiment("calibrate", typed->output, invocation, [&](Progress& progress) {
      return calibrate(*typed, options, candidates, path, invocation.command, progress);
    });
  };
}

} // namespace diffbench::bench
