// SPDX-License-Identifier: Apache-2.0
#include "cost_profile.hpp"

#include "diffbench/cache_directory.hpp"
#include "diffbench/errors.hpp"
#include "machine_identity.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <system_error>

namespace diffbench::bench {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

double seconds_at(const ordered_json& json, const char* name) {
  const double seconds = json.at(name).get<double>();
  if (!(seconds >= 0 && std::isfinite(seconds))) {
    throw InvalidInput(fmt::format("{} is {}", name, seconds));
  }
  return seconds;
}

GridCost read_grid(const ordered_json& json) {
  GridCost grid{.side = json.at("side").get<std::int64_t>(),
                .threads = json.at("threads").get<int>(),
                .setup_seconds = seconds_at(json, "setup_seconds"),
                .copy_in_seconds = seconds_at(json, "copy_in_seconds"),
                .copy_out_seconds = seconds_at(json, "copy_out_seconds"),
                .steps = {}};
  for (const ordered_json& call : json.at("calls")) {
    grid.steps.push_back(
        {.steps = call.at("steps").get<std::int64_t>(), .seconds = seconds_at(call, "seconds")});
    const std::size_t count = grid.steps.size();
    if (count > 1 && grid.steps[count - 2].steps >= grid.steps[count - 1].steps) {
      throw InvalidInput("the calls are not in ascending order");
    }
  }
  if (grid.side < 1 || grid.steps.size() < 2 || grid.steps.front().steps != 1) {
    throw InvalidInput("a grid has too few calls");
  }
  return grid;
}

WayCost read_way(const ordered_json& json) {
  WayCost way{.backend = json.at("backend").get<std::string>(),
              .device = device_kind_names.parse(json.at("device").get<std::string>()),
              .dtype = json.at("dtype").get<std::string>(),
              .grids = {}};
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
      profile.ways.push_back(read_way(way));
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
