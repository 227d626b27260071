// SPDX-License-Identifier: Apache-2.0
#include "assumed_page.hpp"

#include "assumed_ways.hpp"
#include "diffbench/text.hpp"
#include "report_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

/// Half the text of all digits, and no prediction changes by as much as 1e-10.
double short_number(double value) {
  return parse_number<double>(fmt::format("{:.11g}", value)).value();
}

ordered_json grids_json(const WayCost& way) {
  ordered_json grids = ordered_json::array();
  for (const GridCost& grid : way.grids) {
    ordered_json row = {grid.side, short_number(grid.setup_seconds),
                        short_number(grid.copy_in_seconds), short_number(grid.copy_out_seconds)};
    for (const StepsCost& call : grid.steps) {
      row.push_back(short_number(call.seconds));
    }
    grids.push_back(std::move(row));
  }
  return grids;
}

/// Of the largest square field that fits, with its successor, where the card has the least that is
/// assumed.
std::int64_t largest_side(const AssumedCard& card, Dtype dtype) {
  const double element = dtype == Dtype::float32 ? 4 : 8;
  return static_cast<std::int64_t>(std::sqrt(card.memory.low / (2 * element)));
}

ordered_json way_json(const AssumedCard& card, Dtype dtype, Transfer transfer,
                      const AssumedWay& way) {
  ordered_json call_steps = ordered_json::array();
  for (const StepsCost& call : way.fast.grids.front().steps) {
    call_steps.push_back(call.steps);
  }
  return {{"card", card.id},
          {"backend", way.fast.backend},
          {"transfer", to_string(transfer)},
          {"dtype", to_string(dtype)},
          {"largest_side", largest_side(card, dtype)},
          {"call_steps", std::move(call_steps)},
          {"best", grids_json(way.fast)},
          {"worst", grids_json(way.slow)}};
}

ordered_json ways_json() {
  ordered_json ways = ordered_json::array();
  for (const std::string& name : assumed_card_names()) {
    const AssumedCard card = find_assumed_card(name);
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const std::vector<AssumedWay> pageable = assumed_ways(card, dtype, Transfer::pageable);
      ways.push_back(way_json(card, dtype, Transfer::pageable, pageable.front()));
      for (const AssumedWay& way : assumed_ways(card, dtype, Transfer::pinned)) {
        ways.push_back(way_json(card, dtype, Transfer::pinned, way));
      }
    }
  }
  return ways;
}

} // namespace

void write_report_with_cards(const std::filesystem::path& path, std::vector<std::string> parts) {
  parts.push_back(data_element("assumed", ways_json()));
  write_report(path, parts);
}

} // namespace diffbench::bench
