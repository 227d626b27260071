// SPDX-License-Identifier: Apache-2.0
// Goes through the grids and the backends, and keeps what calibration.hpp measures of each.
#include "machine_calibration.hpp"

#include "calibration.hpp"
#include "diffbench/field.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "first_runs.hpp"
#include "process_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

/// Sides of the grids: close where fields leave a cache, up to far beyond all of them.
constexpr std::array<std::int64_t, 15> sides = {smallest_side, 128,  192,  256,  384,
                                                512,           640,  768,  1024, 1152,
                                                1280,          1536, 2048, 2896, largest_side};
/// Of a brief one, and what all dtypes may take before the next grid is left out.
constexpr std::array<std::int64_t, 5> few_sides = {smallest_side, 256, 640, 1536, largest_side};
constexpr double brief_seconds = 45;
/// A way whose steps take longer is not measured on larger grids: it grows with the cells there.
constexpr double slow_step_seconds = 0.1;

std::span<const std::int64_t> sides_of(CalibrationExtent extent) {
  return extent == CalibrationExtent::brief ? std::span<const std::int64_t>(few_sides)
                                            : std::span<const std::int64_t>(sides);
}

int passes_of(CalibrationExtent extent) {
  return extent == CalibrationExtent::brief ? 1 : calibration_passes;
}

/// All backends on all grids in one dtype. Where they were in `before`, they make the same calls,
/// so that none has been measured once only.
template <typename T>
class Calibration {
 public:
  Calibration(std::span<const PlannedRow> planned_rows, std::int64_t largest,
              std::span<const WayCost> before, Progress& progress, CalibrationExtent extent,
              double limit_seconds)
      : planned_(planned_rows),
        largest_(largest),
        before_(before),
        progress_(progress),
        sides_(sides_of(extent)),
        limit_seconds_(limit_seconds) {
    for (const PlannedRow& planned : planned_) {
      ways_.push_back({.backend = std::string(planned.backend.name),
                       .device = planned.backend.device,
                       .dtype = std::string(to_string(dtype_of<T>)),
                       .grids = {}});
    }
  }

  /// Ends early at Ctrl-C; complete() says whether it did.
  std::vector<WayCost> run(std::vector<std::string>& notes) {
    try {
      const Stopwatch<> watch;
      for (const std::int64_t side : sides_) {
        if (side <= largest_ && (grids_done_ == 0 || watch.seconds() < limit_seconds_)) {
          run_grid(side, notes);
        }
      }
    } catch (const Interrupted&) {
      complete_ = false;
    }
    std::erase_if(ways_, [](const WayCost& way) { return way.grids.empty(); });
    return std::move(ways_);
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void run_grid(std::int64_t side, std::vector<std::string>& notes) {
    Problem problem{.nx = side, .ny = side, .dtype = dtype_of<T>};
    Field<T> field(side, side);
    Reference<T> reference(problem, {}, field);
    // Enough for several sweeps where that costs nothing.
    const std::int64_t steps = std::clamp<std::int64_t>(20'000'000 / problem.cells(), 4, 40);
    const CalibrationGrid<T> grid{.side = side,
                                  .field = field.cells(),
                                  .refill = [&] { fill_initial(problem, InitialField{}, field); },
                                  .proof = {.steps = steps, .sha256 = reference.at(steps).sha256},
                                  .one_step = {.steps = 1, .sha256 = reference.at(1).sha256}};
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      WayCost& way = ways_[i];
      const bool ended = way.grids.size() < grids_done_; // at an earlier grid
      if (ended || !fits(problem, planned_[i]) || slow(way)) {
        continue;
      }
      progress_.stage(fmt::format("{} {} {}x{}", way.backend, way.dtype, side, side));
      try {
        way.grids.push_back(calibrate_grid<SteadyClock>(
            [&] {
              start_from_fresh_memory(host_need(problem, planned_[i]));
              return std::make_unique<TimedSession<T>>(planned_[i], problem,
                                                       std::as_const(field).cells());
            },
            grid, {.calls = steps_of_calls(before_, way, side)}));
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception& error) {
        const std::string note =
            fmt::format("{} in {} is left out: {}", way.backend, way.dtype, error.what());
        if (std::ranges::find(notes, note) == notes.end()) {
          notes.push_back(note);
        }
        way.grids.clear();
      }
    }
    ++grids_done_;
  }

  /// In bytes, as far as known.
  [[nodiscard]] static std::int64_t host_need(const Problem& problem, const PlannedRow& planned) {
    const auto need = planned.backend.memory_need;
    return need == nullptr ? 0 : need(problem, planned.session).host;
  }
  [[nodiscard]] static bool fits(const Problem& problem, const PlannedRow& planned) {
    return host_need(problem, planned) < available_memory() / 2;
  }
  [[nodiscard]] static bool slow(const WayCost& way) {
    if (way.grids.empty()) {
      return false;
    }
    const std::vector<StepsCost>& calls = way.grids.back().steps;
    return calls.back().seconds / static_cast<double>(calls.back().steps) > slow_step_seconds;
  }

  std::span<const PlannedRow> planned_;
  std::int64_t largest_;
  std::span<const WayCost> before_;
  Progress& progress_;
  std::vector<WayCost> ways_;
  std::span<const std::int64_t> sides_;
  double limit_seconds_;
  std::size_t grids_done_ = 0;
  bool complete_ = true;
};

/// All dtypes once, until Ctrl-C.
MachineCalibration one_pass(std::span<const PlannedRow> planned_rows, std::span<const Dtype> dtypes,
                            std::int64_t largest, std::span<const WayCost> before,
                            Progress& progress, std::vector<std::string>& notes,
                            CalibrationExtent extent) {
  MachineCalibration pass;
  const double limit = extent == CalibrationExtent::brief
                           ? brief_seconds / static_cast<double>(dtypes.size())
                           : std::numeric_limits<double>::infinity();
  const auto add = [&](auto calibration) {
    std::ranges::move(calibration.run(notes), std::back_inserter(pass.ways));
    pass.complete = calibration.complete();
  };
  for (const Dtype dtype : dtypes) {
    if (pass.complete && dtype == Dtype::float32) {
      add(Calibration<float>(planned_rows, largest, before, progress, extent, limit));
    } else if (pass.complete) {
      add(Calibration<double>(planned_rows, largest, before, progress, extent, limit));
    }
  }
  return pass;
}

std::string minutes_text(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

/// Of each way the lower times of the two. A way that failed `again` is left out; the notes say
/// why.
void keep_less_disturbed(std::vector<WayCost>& ways, std::span<const WayCost> again) {
  std::erase_if(ways, [&](WayCost& way) {
    const auto same = std::ranges::find_if(again, [&](const WayCost& other) {
      return other.backend == way.backend && other.dtype == way.dtype;
    });
    if (same == again.end()) {
      return true;
    }
    way = less_disturbed(std::move(way), *same);
    return false;
  });
}

} // namespace

double expected_calibration_seconds(std::size_t planned_rows, std::size_t dtypes,
                                    std::int64_t largest, CalibrationExtent extent) {
  constexpr double seconds_of_a_grid = 0.75;
  const auto grids =
      std::ranges::count_if(sides_of(extent), [&](std::int64_t side) { return side <= largest; });
  return seconds_of_a_grid * passes_of(extent) * static_cast<double>(planned_rows * dtypes) *
         static_cast<double>(grids);
}

MachineCalibration calibrate_machine(std::span<const PlannedRow> planned_rows,
                                     std::span<const Dtype> dtypes, std::int64_t largest,
                                     Progress& progress, std::vector<std::string>& notes,
                                     CalibrationExtent extent) {
  MachineCalibration all;
  const int passes = passes_of(extent);
  const Stopwatch watch;
  for (int pass = 1; pass <= passes; ++pass) {
    const double left = watch.seconds() / std::max(1, pass - 1) * (passes - pass + 1);
    progress.within(
        fmt::format("{} of {}{}: ", pass, passes,
                    pass == 1 ? "" : fmt::format(", about {} left", minutes_text(left))));
    MachineCalibration one =
        one_pass(planned_rows, dtypes, largest, all.ways, progress, notes, extent);
    if (one.complete && pass > 1) {
      keep_less_disturbed(all.ways, one.ways);
      continue;
    }
    all.complete = one.complete;
    if (pass == 1) {
      all.ways = std::move(one.ways);
    }
    if (!one.complete && all.ways.empty()) {
      throw Interrupted();
    }
    if (!one.complete) {
      notes.push_back(
          pass == 1 ? "it was interrupted the first time round: missing ways are not predicted, "
                      "and missing grids are predicted from the largest one measured"
                    : fmt::format("it was interrupted: each grid was measured {} of {} times",
                                  pass - 1, passes));
      return all;
    }
  }
  return all;
}

} // namespace diffbench::bench
