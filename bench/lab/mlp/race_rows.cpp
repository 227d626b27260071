// What the rows of a race say: exit code, complaints, JSON.
#include "race.hpp"
#include "report_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

Value check_json(const std::optional<StepCheck>& check) {
  if (!check) {
    return nullptr;
  }
  return {{"ok", check->ok()},
          {"steps", check->steps},
          {"share_of_bound", check->share_of_bound},
          {"max_abs_error", check->max_abs_error},
          {"nonfinite", check->nonfinite}};
}

} // namespace

std::vector<std::string> troubles(std::span<const RaceRow> rows) {
  std::vector<std::string> lines;
  for (const RaceRow& row : rows) {
    if (row.wrong()) {
      lines.push_back(fmt::format("{}: WRONG: {}; not timed", row.name, to_text(*row.check)));
    } else if (row.emulated() && row.check) {
      lines.push_back(row.name + ": verified; an emulation has no time");
    } else if (row.status != Status::ok) {
      lines.push_back(fmt::format("{}: {}: {}", row.name, to_string(row.status), row.reason));
    }
  }
  return lines;
}

Value row_json(const RaceRow& row) {
  Value samples = Value::list();
  for (const Sample& sample : row.samples) {
    samples.push_back({{"steps", sample.iterations}, {"seconds", sample.seconds}});
  }
  return {{"row", row.name},
          {"racer", row.engine},
          {"device", row.device},
          {"status", to_string(row.status)},
          {"reason", row.reason.empty() ? Value() : Value(row.reason)},
          {"threads_asked", row.threads},
          {"provenance", provenance_json(row.provenance)},
          {"verified", check_json(row.check)},
          {"seconds_per_step", row.ranked() ? Value(row.step_seconds()) : Value()},
          {"train_errors", row.train_errors},
          {"peak_bytes", row.peak_bytes},
          {"samples", std::move(samples)}};
}

} // namespace diffbench::bench
