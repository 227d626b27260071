// SPDX-License-Identifier: Apache-2.0
#include "trial_tally.hpp"

#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

template <Verdict verdict>
Value count_of(const Tally& tally) {
  return tally.count(verdict);
}

/// What no true ratio on that side of the margin may get; of one that lies at it, the other way.
Value wrong_share(const Tally& tally) {
  double wrong = tally.share(Verdict::faster);
  if (tally.slowdown < least_effect_in_run) {
    wrong += tally.share(Verdict::slower);
  } else if (tally.slowdown > least_effect_in_run) {
    wrong += tally.share(Verdict::same);
  }
  return wrong;
}

Value ratios_json(const Tally& tally) {
  return Value::each(tally.ratios, [](const Ratio& ratio) -> Value {
    return {{"ratio", ratio.value},
            {"low", field<&Ratio::interval, &Interval::low>(ratio)},
            {"high", field<&Ratio::interval, &Interval::high>(ratio)}};
  });
}

Value median_ratio(const Tally& tally) {
  std::vector<double> values;
  std::ranges::transform(tally.ratios, std::back_inserter(values), &Ratio::value);
  return quartiles(values).median;
}

constexpr Column<Tally> tally_columns[] = {
    {nullptr, "against the reference", as_text, field<&Tally::label>},
    {"planted_slowdown", nullptr, as_text, field<&Tally::slowdown>},
    {"trials", "trials", as_text, [](const Tally& t) -> Value { return t.ratios.size(); }},
    {"faster", "FASTER", as_text, count_of<Verdict::faster>},
    {"slower", "SLOWER", as_text, count_of<Verdict::slower>},
    {"same", "SAME", as_text, count_of<Verdict::same>},
    {"unclear", "UNCLEAR", as_text, count_of<Verdict::unclear>},
    {nullptr, "wrong", as_percent, wrong_share},
    {nullptr, "found", as_percent,
     [](const Tally& t) {
       return t.slowdown > least_effect_in_run ? Value(t.share(Verdict::slower)) : Value();
     }},
    {nullptr, "median ratio", as_thousandths, median_ratio},
    {"ratios", nullptr, as_text, ratios_json},
};

} // namespace

void Tally::add(const Ratio& ratio) {
  ++verdicts[static_cast<std::size_t>(judge(ratio, least_effect_in_run))];
  ratios.push_back(ratio);
}

std::string format_tallies(std::span<const Tally> tallies) {
  return format_rows(tally_columns, tallies);
}

Value tallies_json(std::span<const Tally> tallies) { return list_of(tally_columns, tallies); }

std::string tallies_sentence(std::span<const Tally> tallies) {
  const Tally& same = tallies.front();
  std::string sentence =
      fmt::format("Of {} comparisons of identical code {} got a wrong verdict ({})",
                  same.ratios.size(), same.count(Verdict::faster) + same.count(Verdict::slower),
                  format_percent(same.share(Verdict::faster) + same.share(Verdict::slower)));
  for (const Tally& tally : tallies.subspan(1)) {
    sentence += fmt::format("; a slowdown of {:g} % was called SLOWER in {}", 100 * tally.slowdown,
                            format_percent(tally.share(Verdict::slower)));
  }
  return sentence + ".";
}

IdenticalCode identical_code(const Tally& tally) {
  std::vector<double> excluded;
  std::ranges::transform(tally.ratios, std::back_inserter(excluded), excluded_effect);
  return identical_code(excluded);
}

void judge_identical(const Tally& tally, const std::string& kind, const LineCache& cache,
                     LabReport& report) {
  const IdenticalCode identical = identical_code(tally);
  const bool too_many = identical.trials >= least_trials && identical.too_many();
  report.data["identical"] = {{"trials", identical.trials},
                              {"wrong", identical.wrong},
                              {"too_many", too_many},
                              {"least_effect", identical.least_effect}};
  if (report.disturbed) {
    report.rows = Value::list(); // they are verdicts
  }
  if (report.disturbed || report.outcome.exit_code != exit_ok) {
    return;
  }
  if (too_many) {
    report.done = fmt::format(
        "Do not trust verdicts of a few percent here: identical code got {} in {} comparisons, "
        "where 1 "
        "in 100 is allowed.",
        identical.wrong, identical.trials);
    report.outcome = {exit_not_verified, "identical code gets verdicts here, see above"};
  }
  if (identical.trials < least_trials) {
    return;
  }
  try {
    keep_identical_code(identical, cache, kind);
  } catch (const Error& error) {
    report.notes.push_back(fmt::format("not kept for other verbs: {}", error.what()));
  }
}

} // namespace diffbench::bench
