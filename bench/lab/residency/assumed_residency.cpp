// SPDX-License-Identifier: Apache-2.0
// `diffbench residency --assume CARD`: the rungs on a GPU as that card may take them.
#include "assumed_report.hpp"
#include "assumed_ways.hpp"
#include "columns.hpp"
#include "residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

struct AssumedRung {
  const AssumedCard* card;
  std::string row;     ///< as it is shown
  std::string backend; ///< with the next two, which row it is
  std::int64_t roundtrip_every;
  Transfer transfer;
  Assumption seconds;                ///< of a step
  std::optional<double> cpu_seconds; ///< of the best row of the CPU
};

constexpr Column<AssumedRung> rung_columns[] = {
    {"backend", "on an assumed GPU", as_text, field<&AssumedRung::row>,
     [](const AssumedRung& rung) { return assumed_name(rung.row, *rung.card); }},
    {"kernel", nullptr, as_text, field<&AssumedRung::backend>},
    {"roundtrip_every", nullptr, as_text,
     [](const AssumedRung& rung) {
       return rung.roundtrip_every > 0 ? Value(rung.roundtrip_every) : Value();
     }},
    {"transfer", nullptr, as_text, field<&AssumedRung::transfer>},
    {"assumed", nullptr, as_text, field<&AssumedRung::card, &AssumedCard::id>},
    {"seconds_per_step", "time/iter", as_seconds_span, field<&AssumedRung::seconds, span_json>},
    {"times_best_cpu", "vs best CPU", as_ratio_span,
     [](const AssumedRung& rung) {
       return rung.cpu_seconds ? span_json(times_as_fast(*rung.cpu_seconds, rung.seconds))
                               : Value();
     }},
};

/// `seconds(way)` of both ends.
template <typename Seconds>
Assumption span_of(const AssumedWay& way, Seconds seconds) {
  return {seconds(way.fast), seconds(way.slow)};
}

/// As residency_ladder() has them, with the names that its rows would have.
std::vector<AssumedRung> rungs_of(const AssumedCard& card, const ResidencyPlan& plan,
                                  const std::optional<double>& cpu_seconds) {
  const ComparisonPlan& run = plan.run;
  const RunShape whole{.cells = static_cast<double>(run.problem.cells()),
                       .iterations = run.iterations};
  const auto steps = static_cast<double>(run.iterations);
  std::vector<AssumedRung> rungs;
  auto add = [&](std::string row, const AssumedWay& way, std::int64_t every, Transfer transfer,
                 const Assumption& seconds) {
    rungs.push_back({.card = &card,
                     .row = std::move(row),
                     .backend = way.fast.backend,
                     .roundtrip_every = every,
                     .transfer = transfer,
                     .seconds = seconds,
                     .cpu_seconds = cpu_seconds});
  };
  // A stretch between two visits is a warm run of its own.
  auto round_trips = [&](const AssumedWay& way, std::int64_t every, Transfer transfer) {
    if (every <= run.iterations) {
      add(fmt::format("{}, round trip every {}{}", way.fast.backend, every,
                      transfer == Transfer::pageable ? ", pageable" : ""),
          way, every, transfer, span_of(way, [&](const WayCost& cost) {
            return predict(cost, {.cells = whole.cells, .iterations = every}).warm_seconds /
                   static_cast<double>(every);
          }));
    }
  };
  auto resident = [&](const AssumedWay& way) {
    add(way.fast.backend, way, 0, Transfer::pinned, span_of(way, [&](const WayCost& cost) {
          return predict(cost, whole).steps_seconds / steps;
        }));
  };
  const AssumedWay pageable =
      assumed_ways(card, run.problem.dtype, Transfer::pageable).front(); // cuda_stream
  const std::vector<AssumedWay> pinned = assumed_ways(card, run.problem.dtype, Transfer::pinned);
  if (!plan.trips_every.empty()) {
    round_trips(pageable, plan.trips_every.front(), Transfer::pageable);
  }
  for (const std::int64_t every : plan.trips_every) {
    round_trips(pinned.front(), every, Transfer::pinned);
  }
  resident(pinned.front());
  if (plan.snapshot_every <= run.iterations) {
    RunShape visiting = whole;
    visiting.snapshot_every = plan.snapshot_every;
    auto snapshots = [&](const char* how, auto seconds) {
      add(fmt::format("{}, {}snapshot every {}", pinned.front().fast.backend, how,
                      plan.snapshot_every),
          pinned.front(), 0, Transfer::pinned, span_of(pinned.front(), [&](const WayCost& cost) {
            const Prediction run_of = predict(cost, visiting);
            return seconds(run_of.steps_seconds, run_of.snapshot_seconds) / steps;
          }));
    };
    snapshots("", [](double work, double copies) { return work + copies; });
    snapshots("overlapped ", [](double work, double copies) { return std::max(work, copies); });
  }
  std::for_each(pinned.begin() + 1, pinned.end(), resident);
  return rungs;
}

std::string sentence_of(const AssumedCard& card, std::span<const AssumedRung> rungs, const Row* cpu,
                        const Problem& problem) {
  std::string text =
      fmt::format("Assumed, not measured ({}): {}.", card.id, fit_text(card, problem));
  if (fits(card, problem) == "no" || cpu == nullptr) {
    return text;
  }
  const AssumedRung& naive = rungs.front();
  const AssumedRung& best = rungs.back();
  auto times = [&](const AssumedRung& rung) {
    return times_as_fast(cpu->step_seconds(), rung.seconds);
  };
  return text + fmt::format(" {} would take {} a step, {} as {}. {} would take {}, {}.", naive.row,
                            as_seconds_span(span_json(naive.seconds)), pace_text(times(naive)),
                            cpu->name, best.row, as_seconds_span(span_json(best.seconds)),
                            worth_text(times(best), cpu->name));
}

} // namespace

void append_assumed(LabReport& report, const AssumedCard& card, const ResidencyPlan& plan,
                    const ComparisonResult& result) {
  const Row* cpu = fastest(result, [](const Row& row) {
    return !row.on_device() && row.roundtrip_every == 0 && row.snapshot_every == 0;
  });
  const std::vector<AssumedRung> rungs =
      rungs_of(card, plan, cpu != nullptr ? std::optional(cpu->step_seconds()) : std::nullopt);
  std::vector<AssumptionCheck> checks;
  for (const AssumedRung& rung : rungs) {
    const Row* row = result.find(rung.row);
    if (row != nullptr && row->ranked() && row->on_device()) {
      checks.push_back({rung.row, "step", rung.seconds, row->step_seconds()});
    }
  }
  if (is_such(card, fact(result.context, "gpu_name")) && !checks.empty()) {
    append_checks(report, card, checks);
    return;
  }
  const std::string sentence = sentence_of(card, rungs, cpu, plan.run.problem);
  const auto table = [&](const std::vector<AssumedRung>& shown) {
    return assumed_title(card) + format_rows(rung_columns, shown);
  };
  append_table(report, table(rungs), table(rungs_of(card, plan, std::nullopt)));
  report.found_in_data.insert(report.found_in_data.end(),
                              {"assumed.rows[].times_best_cpu", "assumed.sentence"});
  report.sentence += "\n" + sentence;
  report.data["assumed"] = {{"card", card.id},
                            {"name", card.name},
                            {"rows", list_of(rung_columns, rungs)},
                            {"sentence", sentence}};
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
