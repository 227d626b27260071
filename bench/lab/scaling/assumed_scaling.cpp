// SPDX-License-Identifier: Apache-2.0
// `diffbench scaling --assume CARD`: the best of that card beside the best number of threads.
#include "assumed_report.hpp"
#include "assumed_ways.hpp"
#include "columns.hpp"
#include "scaling.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

struct AssumedRow {
  const AssumedCard* card;
  std::string backend;
  Assumption step, warm; ///< seconds
};

constexpr Column<AssumedRow> row_columns[] = {
    {"backend", "GPU", as_text, field<&AssumedRow::backend>,
     [](const AssumedRow& row) { return assumed_name(row.backend, *row.card); }},
    {"assumed", nullptr, as_text, field<&AssumedRow::card, &AssumedCard::id>},
    {"seconds_per_step", "time/iter", as_seconds_span, field<&AssumedRow::step, span_json>},
    {"warm_seconds", "warm run", as_seconds_span, field<&AssumedRow::warm, span_json>},
};

/// `cuda`, which the verb compares with where there is a GPU, with page-locked copies as there.
AssumedRow row_of(const AssumedCard& card, const ComparisonResult& frame) {
  const AssumedWay way = assumed_ways(card, frame.problem.dtype, Transfer::pinned).back(); // cuda
  const RunShape run{.cells = static_cast<double>(frame.problem.cells()),
                     .iterations = frame.iterations};
  const Prediction fast = predict(way.fast, run);
  const Prediction slow = predict(way.slow, run);
  const auto steps = static_cast<double>(frame.iterations);
  return {.card = &card,
          .backend = way.fast.backend,
          .step = {fast.steps_seconds / steps, slow.steps_seconds / steps},
          .warm = {fast.warm_seconds, slow.warm_seconds}};
}

/// Seconds of a whole run; without a warm one, of its steps.
double run_seconds(const Row& row, std::int64_t iterations) {
  return row.warm ? row.warm->wall : row.step_seconds() * static_cast<double>(iterations);
}

} // namespace

void append_assumed(LabReport& report, const AssumedCard& card, const ScalingStudy& study) {
  const ComparisonResult& frame = study.frame;
  const AssumedRow row = row_of(card, frame);
  if (study.gpu && study.gpu->ranked() && is_such(card, fact(frame.context, "gpu_name"))) {
    std::vector<AssumptionCheck> checks{{row.backend, "step", row.step, study.gpu->step_seconds()}};
    if (study.gpu->warm) {
      checks.push_back({row.backend, "warm", row.warm, study.gpu->warm->wall});
    }
    append_checks(report, card, checks);
    return;
  }
  const Row* cpu = fastest(frame, [](const Row& one) { return !one.on_device(); });
  std::string sentence =
      fmt::format("Assumed, not measured ({}): {}", card.id, fit_text(card, frame.problem));
  Value times;
  if (fits(card, frame.problem) != "no" && cpu != nullptr) {
    const Assumption span = times_as_fast(run_seconds(*cpu, frame.iterations), row.warm);
    times = span_json(span);
    sentence += fmt::format("; a whole run by {} would take {}, {}", row.backend,
                            as_seconds_span(span_json(row.warm)),
                            worth_text(span, "the best of the threads"));
  }
  sentence += ".";
  const std::vector<AssumedRow> rows{row};
  append_table(report, assumed_title(card) + format_rows(row_columns, rows));
  report.sentence += "\n" + sentence;
  report.data["assumed"] = {{"card", card.id},
                            {"name", card.name},
                            {"rows", list_of(row_columns, rows)},
                            {"times_as_fast", times},
                            {"sentence", sentence}};
  report.found_in_data.insert(report.found_in_data.end(),
                              {"assumed.times_as_fast", "assumed.sentence"});
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
