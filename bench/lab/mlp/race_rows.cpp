// What the rows of a race say: exit code, complaints, JSON.
#include "mlp/race.hpp"
#include "result_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

bool is_wrong(const RaceRow& row) { return row.check && !row.check->ok(); }

ordered_json check_json(const std::optional<StepCheck>& check) {
  if (!check) {
    return nullptr;
  }
  return {{"ok", check->ok()},
          {"steps", check->steps},
          {"share_of_bound", number(check->share_of_bound)},
          {"max_abs_error", number(check->max_abs_error)},
          {"nonfinite", check->nonfinite}};
}

} // namespace

Outcome outcome_of(std::span<const RaceRow> rows) {
  if (const auto wrong = std::ranges::find_if(rows, is_wrong); wrong != rows.end()) {
    return {exit_not_verified,
            fmt::format("{}: its parameters are not those of the reference", wrong->name)};
  }
  const auto failed = std::ranges::find(rows, Status::failed, &RaceRow::status);
  if (failed != rows.end()) {
    return {exit_error, fmt::format("{}: {}", failed->name, failed->reason)};
  }
  return {};
}

std::vector<std::string> troubles(std::span<const RaceRow> rows) {
  std::vector<std::string> lines;
  for (const RaceRow& row : rows) {
    if (is_wrong(row)) {
      lines.push_back(fmt::format(
          "{}: WRONG: after {} steps {:.3g} times as far from the reference as it may be, {} "
          "numbers not finite; not timed",
          row.name, row.check->steps, row.check->share_of_bound, row.check->nonfinite));
    } else if (row.emulated() && row.check) {
      lines.push_back(row.name + ": verified; an emulation has no time");
    } else if (row.status != Status::ok) {
      lines.push_back(fmt::format("{}: {}: {}", row.name, to_string(row.status), row.reason));
    }
  }
  return lines;
}

ordered_json row_json(const RaceRow& row) {
  ordered_json provenance{{"threads", row.provenance.threads}};
  for (const auto& [name, value] : row.provenance.details) {
    provenance[name] = value;
  }
  ordered_json samples = ordered_json::array();
  for (const Sample& sample : row.samples) {
    samples.push_back({{"steps", sample.iterations}, {"seconds", number(sample.seconds)}});
  }
  return {{"row", row.name},
          {"racer", row.racer},
          {"device", row.device},
          {"status", to_string(row.status)},
          {"reason", row.reason.empty() ? ordered_json(nullptr) : ordered_json(row.reason)},
          {"threads_asked", row.threads},
          {"provenance", std::move(provenance)},
          {"verified", check_json(row.check)},
          {"seconds_per_step", row.ranked() ? number(row.step_seconds()) : ordered_json(nullptr)},
          {"train_errors", number(row.train_errors)},
          {"peak_bytes", number(row.peak_bytes)},
          {"samples", std::move(samples)}};
}

} // namespace diffbench::bench
