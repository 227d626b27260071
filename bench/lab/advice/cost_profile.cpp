// SPDX-License-Identifier: Apache-2.0
#include "cost_profile.hpp"

#include "diffbench/cache_directory.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/text.hpp"
#include "machine_identity.hpp"
#include "option_groups.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <system_error>

namespace diffbench::bench {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

std::int64_t count_at(const ordered_json& json, const char* name, const Limits& limits) {
  const ordered_json& count = json.at(name);
  // Of a number beyond 64 bits, and of 1.5, get() would make another one.
  if (!count.is_number_integer() ||
      (count.is_number_unsigned() &&
       count.get<std::uint64_t>() > static_cast<std::uint64_t>(limits.high)) ||
      count.get<std::int64_t>() < limits.low || count.get<std::int64_t>() > limits.high) {
    throw InvalidInput(fmt::format("{} is {}, and is to be a whole number from {} to {}", name,
                                   printable(count.dump()), limits.low, limits.high));
  }
  return count.get<std::int64_t>();
}

double seconds_at(const ordered_json& json, const char* name) {
  const double seconds = json.at(name).get<double>();
  if (!(seconds >= 0 && std::isfinite(seconds))) {
    throw InvalidInput(fmt::format("{} is {}", name, seconds));
  }
  return seconds;
}

StepsCost read_call(const ordered_json& json) {
  const StepsCost call{.steps = count_at(json, "steps", iteration_limits),
                       .seconds = seconds_at(json, "seconds")};
  if (!(call.seconds > 0)) {
    throw InvalidInput(fmt::format("{} steps take no time", call.steps));
  }
  return call;
}

GridCost read_grid(const ordered_json& json) {
  GridCost grid{.side = count_at(json, "side", {1, max_extent}),
                .threads = static_cast<int>(count_at(json, "threads", thread_limits)),
                .setup_seconds = seconds_at(json, "setup_seconds"),
                .copy_in_seconds = seconds_at(json, "copy_in_seconds"),
                .copy_out_seconds = seconds_at(json, "copy_out_seconds"),
                .steps = {}};
  for (const ordered_json& call : json.at("calls")) {
    grid.steps.push_back(read_call(call));
    const std::size_t count = grid.steps.size();
    if (count > 1 && grid.steps[count - 2].steps >= grid.steps[count - 1].steps) {
      throw InvalidInput("the calls are not in ascending order");
    }
  }
  if (grid.steps.size() < 2 || grid.steps.front().steps != 1) {
    throw InvalidInput("a grid has too few calls");
  }
  return grid;
}

void read_grids(WayCost& way, const ordered_json& json) {
  if (way.device == DeviceKind::emulated) {
    throw InvalidInput("the device is emulated, and what is emulated has no time");
  }
  for (const ordered_json& grid : json.at("grids")) {
    way.grids.push_back(read_grid(grid));
    const std::size_t count = way.grids.size();
    if (count > 1 && way.grids[count - 2].side >= way.grids[count - 1].side) {
      throw InvalidInput("the grids are not in ascending order");
    }
  }
  if (way.grids.empty()) {
    throw InvalidInput("a backend has no grids");
  }
}

/// One that is not among the `known` ones.
WayCost read_way(const ordered_json& json, std::span<const WayCost> known) {
  WayCost way{.backend = json.at("backend").get<std::string>(),
              .device = device_kind_names.parse(json.at("device").get<std::string>()),
              .dtype = json.at("dtype").get<std::string>(),
              .grids = {}};
  const auto same = [&](const WayCost& other) {
    return other.backend == way.backend && other.dtype == way.dtype;
  };
  try {
    if (std::ranges::any_of(known, same)) {
      throw InvalidInput("is there twice");
    }
    read_grids(way, json);
  } catch (const InvalidInput& error) {
    throw InvalidInput(
        fmt::format("{} in {}: {}", printable(way.backend), printable(way.dtype), error.what()));
  }
  return way;
}

Value way_json(const WayCost& way) {
  return {{"backend", way.backend}, {"device", way.device}, {"dtype", way.dtype}};
}

/// Adds to what says of which way it is.
Value grid_json(const GridCost& grid, Value json = {}) {
  json["side"] = grid.side;
  json["threads"] = grid.threads;
  json["setup_seconds"] = grid.setup_seconds;
  json["copy_in_seconds"] = grid.copy_in_seconds;
  json["copy_out_seconds"] = grid.copy_out_seconds;
  json["calls"] = Value::each(grid.steps, [](const StepsCost& cost) -> Value {
    return {{"steps", cost.steps}, {"seconds", cost.seconds}};
  });
  return json;
}

} // namespace

fs::path default_profile_path() {
  if (const fs::path directory = cache_directory(); !directory.empty()) {
    return directory / "profile.json";
  }
  throw Error(
      "no place for the profile: set XDG_CACHE_HOME or HOME, or name a file by --out (to "
      "calibrate) or --profile (to advise)");
}

Value to_json(const CostProfile& profile) {
  const auto with_grids = [](const WayCost& way) {
    Value json = way_json(way);
    json["grids"] = Value::each(way.grids, [](const GridCost& grid) { return grid_json(grid); });
    return json;
  };
  return {{"machine", profile.machine},
          {"transfer", profile.transfer},
          {"ways", Value::each(profile.ways, with_grids)}};
}

Value grid_lines(const CostProfile& profile) {
  Value lines = Value::list();
  for (const WayCost& way : profile.ways) {
    for (const GridCost& grid : way.grids) {
      Value line = grid_json(grid, way_json(way));
      const StepsCost& longest = grid.steps.back();
      line["seconds_per_step"] = longest.seconds / static_cast<double>(longest.steps);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

CostProfile read_profile(const fs::path& path) {
  if (std::error_code ignored; !fs::exists(path, ignored)) {
    throw InvalidInput(fmt::format(
        "{}: there is no such file; `diffbench calibrate --out FILE` writes one", path.string()));
  }
  const ordered_json file = read_result_file(path, Origin::ours);
  try {
    const ordered_json& own = file.at("diffbench").at("calibrate");
    CostProfile profile{.ways = {},
                        .transfer = own.at("transfer").get<std::string>(),
                        .machine = own.at("machine").get<std::string>(),
                        .gpu = file.at("context").value("gpu_name", ""),
                        .date = file.at("context").value("date", "unknown"),
                        .disturbed = file.at("diffbench").value("disturbed", false),
                        .interrupted = file.at("diffbench").value("interrupted", false),
                        .foreign = identity_difference(file.at("context"))};
    for (const ordered_json& way : own.at("ways")) {
      profile.ways.push_back(read_way(way, profile.ways));
    }
    return profile;
  } catch (const ordered_json::exception&) {
    throw InvalidInput(fmt::format(
        "{}: is not a profile of a machine; `diffbench calibrate` writes one", path.string()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}; write it again with `diffbench calibrate`",
                                   path.string(), error.what()));
  }
}

bool has_own_profile() {
  std::error_code error;
  return fs::exists(default_profile_path(), error);
}

CostProfile read_own_profile() {
  CostProfile profile = read_profile(default_profile_path());
  if (!profile.foreign.empty()) {
    throw InvalidInput(
        fmt::format("advise: the profile is of another machine or build ({}); run: "
                    "diffbench calibrate, or name a recorded one by --profile FILE",
                    profile.foreign));
  }
  return profile;
}

} // namespace diffbench::bench
