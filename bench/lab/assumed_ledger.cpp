// SPDX-License-Identifier: Apache-2.0
#include "assumed_ledger.hpp"

#include "assumed_phases.hpp"
#include "assumed_report.hpp"
#include "columns.hpp"
#include "conclusion.hpp"
#include "context.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct AssumedPhase {
  const char* name;
  double AssumedPhases::*member;
};
constexpr std::array assumed_phase_members{AssumedPhase{"context", &AssumedPhases::context},
                                           AssumedPhase{"pin", &AssumedPhases::pin},
                                           AssumedPhase{"h2d", &AssumedPhases::h2d},
                                           AssumedPhase{"launch", &AssumedPhases::launch},
                                           AssumedPhase{"compute", &AssumedPhases::compute},
                                           AssumedPhase{"sync", &AssumedPhases::sync},
                                           AssumedPhase{"d2h", &AssumedPhases::d2h}};

/// A run on the card.
struct LedgerRow {
  const AssumedCard* card;
  std::string name, kernel;
  Transfer transfer;
  bool wait_each_step;
  std::int64_t iterations;
  AssumedPhases fast, slow;
  std::optional<double> cpu_step; ///< seconds of a step of the best row of the CPU

  [[nodiscard]] Assumption phase(double AssumedPhases::*member) const {
    return span_between(fast.*member, slow.*member);
  }
  [[nodiscard]] Assumption warm() const { return {fast.warm(), slow.warm()}; }
  [[nodiscard]] Assumption cold() const { return {fast.cold(), slow.cold()}; }
  [[nodiscard]] Assumption step() const {
    const auto steps = static_cast<double>(iterations);
    return {(fast.launch + fast.compute + fast.sync) / steps,
            (slow.launch + slow.compute + slow.sync) / steps};
  }
};

Value phases_json(const LedgerRow& row) {
  Value phases = Value::object();
  for (const AssumedPhase& phase : assumed_phase_members) {
    phases[phase.name] = span_json(row.phase(phase.member));
  }
  return phases;
}

constexpr Column<LedgerRow> ledger_columns[] = {
    {"backend", "on an assumed GPU", as_text, field<&LedgerRow::name>,
     [](const LedgerRow& row) { return assumed_name(row.name, *row.card); }},
    {"kernel", nullptr, as_text, field<&LedgerRow::kernel>},
    {"transfer", nullptr, as_text, field<&LedgerRow::transfer>},
    {"wait_each_step", nullptr, as_text, field<&LedgerRow::wait_each_step>},
    {"assumed", nullptr, as_text, field<&LedgerRow::card, &AssumedCard::id>},
    {"seconds_per_step", "time/iter", as_seconds_span,
     [](const LedgerRow& row) { return span_json(row.step()); }},
    {"warm_seconds", "warm run", as_seconds_span,
     [](const LedgerRow& row) { return span_json(row.warm()); }},
    {"cold_seconds", "cold run", as_seconds_span,
     [](const LedgerRow& row) { return span_json(row.cold()); }},
    {"phases", nullptr, as_text, phases_json},
    {"times_best_cpu", "vs best CPU", as_ratio_span,
     [](const LedgerRow& row) {
       return row.cpu_step ? span_json(times_as_fast(*row.cpu_step, row.step())) : Value();
     }},
};

std::vector<LedgerRow> ledger_of(const AssumedCard& card, const ComparisonResult& result,
                                 const std::optional<double>& cpu_step) {
  const CellWork work = stencil_work(result.problem.dtype);
  const RunShape run{.cells = static_cast<double>(result.problem.cells()),
                     .iterations = result.iterations};
  std::vector<LedgerRow> rows;
  const auto add = [&](const char* name, const AssumedRun& how) {
    const auto at = [&](AssumedEnd::Bound bound) {
      return assumed_phases(AssumedEnd(card, work, bound), how, run);
    };
    rows.push_back({.card = &card,
                    .name = name,
                    .kernel = std::string(how.backend),
                    .transfer = how.transfer,
                    .wait_each_step = how.wait_each_step,
                    .iterations = result.iterations,
                    .fast = at(AssumedEnd::Bound::fast),
                    .slow = at(AssumedEnd::Bound::slow),
                    .cpu_step = cpu_step});
  };
  add("cuda_stream, a wait after every step", {.wait_each_step = true});
  add("cuda_stream, pageable", {.transfer = Transfer::pageable});
  add("cuda_stream, pinned or registered", {});
  add("cuda_graph", {.backend = "cuda_graph"});
  add("cuda", {.backend = "cuda"});
  return rows;
}

/// A phase a line, a run a column.
std::string phases_table(std::span<const LedgerRow> rows) {
  TextTable::Cells header{"phases of a cold run"};
  for (const LedgerRow& row : rows) {
    header.push_back(row.wait_each_step                   ? "a wait each step"
                     : row.transfer == Transfer::pageable ? "pageable"
                     : row.kernel == "cuda_stream"        ? "pinned"
                                                          : row.kernel);
  }
  TextTable table(std::move(header));
  const auto add = [&](const char* name, auto span) {
    TextTable::Cells cells{assumed_name(name, *rows.front().card)};
    for (const LedgerRow& row : rows) {
      const Assumption seconds = span(row);
      cells.push_back(seconds.high > 0 ? as_seconds_span(span_json(seconds)) : no_value);
    }
    table.add(std::move(cells));
  };
  for (const AssumedPhase& phase : assumed_phase_members) {
    add(phase.name, [&](const LedgerRow& row) { return row.phase(phase.member); });
  }
  add("= wall", [](const LedgerRow& row) { return row.cold(); });
  return table.format();
}

std::string seconds_text(const Assumption& seconds) { return as_seconds_span(span_json(seconds)); }

std::string ledger_sentence(const AssumedCard& card, std::span<const LedgerRow> rows,
                            const ComparisonResult& result, const Row* cpu) {
  std::string text =
      fmt::format("Assumed, not measured ({}): {}.", card.id, fit_text(card, result.problem));
  if (fits(card, result.problem) == "no") {
    return text;
  }
  const LedgerRow& waiting = rows[0];
  const LedgerRow& pageable = rows[1];
  const LedgerRow& pinned = rows[2];
  const LedgerRow& best = rows.back();
  text += fmt::format(
      " A first run of {} would take {}, {} of it for the context; its copies take {} from "
      "ordinary memory and {} from page-locked memory. With a wait after every step its steps "
      "take {} in the place of {}.",
      pageable.kernel, seconds_text(pageable.cold()),
      seconds_text(pageable.phase(&AssumedPhases::context)),
      seconds_text({pageable.fast.h2d + pageable.fast.d2h, pageable.slow.h2d + pageable.slow.d2h}),
      seconds_text({pinned.fast.h2d + pinned.fast.d2h, pinned.slow.h2d + pinned.slow.d2h}),
      seconds_text(waiting.step()), seconds_text(pinned.step()));
  return cpu == nullptr
             ? text
             : text + fmt::format(
                          " {} would take {} a step, {}.", best.kernel, seconds_text(best.step()),
                          worth_text(times_as_fast(cpu->step_seconds(), best.step()), cpu->name));
}

/// What was measured of the runs on such a card.
std::vector<AssumptionCheck> checks_of(std::span<const LedgerRow> rows,
                                       const ComparisonResult& result) {
  std::vector<AssumptionCheck> checks;
  for (const LedgerRow& row : rows) {
    const Row* measured = row.wait_each_step || row.transfer == Transfer::pageable
                              ? nullptr
                              : result.find(row.kernel);
    if (measured == nullptr || !measured->ranked() || !measured->on_device()) {
      continue;
    }
    checks.push_back({row.kernel, "step", row.step(), measured->step_seconds()});
    if (measured->warm) {
      checks.push_back({row.kernel, "warm", row.warm(), measured->warm->wall});
    }
    if (measured->cold) {
      checks.push_back({row.kernel, "cold", row.cold(), measured->cold->wall});
    }
  }
  return checks;
}

} // namespace

void append_assumed_ledger(LabReport& report, const AssumedCard& card,
                           const ComparisonResult& result) {
  const Row* cpu = concludes(evidence(result.disturbed))
                       ? fastest(result, [](const Row& row) { return !row.on_device(); })
                       : nullptr;
  const std::vector<LedgerRow> rows =
      ledger_of(card, result, cpu != nullptr ? std::optional(cpu->step_seconds()) : std::nullopt);
  const std::vector<AssumptionCheck> checks = checks_of(rows, result);
  if (is_such(card, fact(result.context, "gpu_name")) && !checks.empty()) {
    append_checks(report, card, checks);
    return;
  }
  append_table(report, assumed_title(card) + format_rows(ledger_columns, rows));
  append_table(report, assumed_title(card) + phases_table(rows));
  const std::string sentence = ledger_sentence(card, rows, result, cpu);
  report.sentence += (report.sentence.empty() ? "" : "\n") + sentence;
  report.data["assumed"] = {{"card", card.id},
                            {"name", card.name},
                            {"rows", list_of(ledger_columns, rows)},
                            {"sentence", sentence}};
}

} // namespace diffbench::bench
