// SPDX-License-Identifier: Apache-2.0
#include "selftest_trials.hpp"

#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
#include "ratio.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

namespace diffbench::bench {

namespace {

/// The trials of one row.
struct Tally : TrialRow {
  std::array<int, 4> verdicts{}; ///< by Verdict
  std::vector<Ratio> ratios = {};

  void add(const Ratio& ratio) {
    ++verdicts[static_cast<std::size_t>(judge(ratio, least_effect_in_run))];
    ratios.push_back(ratio);
  }
  [[nodiscard]] int count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  /// Of the trials, which had `verdict`; there is one at least.
  [[nodiscard]] double share(Verdict verdict) const {
    return count(verdict) / static_cast<double>(ratios.size());
  }
};

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

/// How many times its low end the high end of an interval is, of those that there are.
std::string width_text(const Tally& tally) {
  std::vector<double> widths;
  for (const Ratio& ratio : tally.ratios) {
    if (ratio.interval && ratio.interval->low > 0) {
      widths.push_back(ratio.interval->high / ratio.interval->low);
    }
  }
  return widths.empty() ? "no ratio of equal rows has an interval"
                        : fmt::format(
                              "the interval of a ratio of equal rows is {:.2f} times as high "
                              "as low (median)",
                              median_of(widths));
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

/// "Of 20 comparisons of identical code 0 got a wrong verdict (0 %); a slowdown of ...".
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

/// Adds to a report that describes trials, and may be disturbed, what identical code got, as
/// `identical`, and keeps it in `cache` where nothing else ran. Too many wrong verdicts are said,
/// and make the exit code 3.
void judge_identical(const Tally& tally, const LineCache& cache, bool beside_load,
                     LabReport& report) {
  std::vector<double> excluded;
  std::ranges::transform(tally.ratios, std::back_inserter(excluded), excluded_effect);
  const IdenticalCode identical = identical_code(excluded);
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
  if (identical.trials < least_trials || beside_load) {
    return;
  }
  try {
    keep_identical_code(identical, cache);
  } catch (const Error& error) {
    report.notes.push_back(fmt::format("not kept for other verbs: {}", error.what()));
  }
}

/// Keeps what doctor shows of comparisons beside a load.
void keep_beside(const TrialSubject& subject, const Tally& same, const Tally& planted,
                 const LineCache& cache, LabReport& report) {
  if (std::ssize(same.ratios) < least_trials) {
    return;
  }
  try {
    cache.store(
        key_beside(subject.load),
        fmt::format("{} of {} wrong, {} of {} that took twice as long found",
                    same.count(Verdict::faster) + same.count(Verdict::slower), same.ratios.size(),
                    planted.count(Verdict::slower), planted.ratios.size()));
  } catch (const Error& error) {
    report.notes.push_back(fmt::format("not kept for doctor: {}", error.what()));
  }
}

struct Findings {
  std::vector<Tally> tallies; ///< of all rows but the reference
  double wall_seconds = 0;    ///< of all samples
  double cpu_seconds = 0;     ///< times the CPUs that they asked for
  std::int64_t fewest_steps = std::numeric_limits<std::int64_t>::max(); ///< of a sample
  std::int64_t most_steps = 0;

  explicit Findings(std::span<const TrialRow> rows) {
    for (const TrialRow& row : rows.subspan(1)) {
      tallies.push_back({row});
    }
  }

  [[nodiscard]] std::size_t trials() const { return tallies.front().ratios.size(); }
  [[nodiscard]] double cpu_share() const { return cpu_seconds / wall_seconds; }

  /// Of a trial's sessions, in which all rows were verified and timed.
  void add(std::span<const TrialSession> sessions) {
    for (std::size_t i = 0; i < tallies.size() && sessions.size() == 1; ++i) {
      const std::vector<TimedRow>& rows = sessions.front().rows;
      if (const auto ratio = paired_ratio(rows[i + 1].samples, rows.front().samples)) {
        tallies[i].add(*ratio);
      }
    }
    for (std::size_t i = 0; i < tallies.size() && sessions.size() > 1; ++i) {
      std::vector<double> quotients;
      for (const TrialSession& session : sessions) {
        if (const auto ratio =
                paired_ratio(session.rows[i + 1].samples, session.rows.front().samples)) {
          quotients.push_back(ratio->value);
        }
      }
      if (!quotients.empty()) {
        tallies[i].add(ratio_of(std::move(quotients)));
      }
    }
    for (const TrialSession& session : sessions) {
      add_times(session);
    }
  }

 private:
  void add_times(const TrialSession& session) {
    for (const TimedRow& row : session.rows) {
      for (const Sample& sample : row.samples) {
        fewest_steps = std::min(fewest_steps, sample.iterations);
        most_steps = std::max(most_steps, sample.iterations);
        wall_seconds += sample.seconds;
        cpu_seconds += sample.cpu_seconds.value_or(0) / row.provenance.threads;
      }
    }
  }
};

/// Adds what was found; there is some.
void describe(const TrialSubject& subject, const Findings& findings, LabReport& report) {
  const bool alike = findings.fewest_steps == findings.most_steps;
  report.text =
      fmt::format("{}, samples of {}{} steps\n\n", subject.title,
                  alike ? "" : fmt::format("{} to ", findings.fewest_steps), findings.most_steps) +
      format_rows(tally_columns, findings.tallies);
  report.sentence = tallies_sentence(findings.tallies);
  report.figures = report.text.substr(0, report.text.find('\n') + 1);
  report.found_in_data = {"kinds", "identical"};
  report.notes.push_back(fmt::format("the rows got {:.0f} % of the CPU time that they asked for",
                                     100 * findings.cpu_share()));
  report.data = subject.facts;
  report.data["iterations_per_sample"] = Value::list({findings.fewest_steps, findings.most_steps});
  report.data["trial_seconds"] = subject.trial_seconds;
  report.data["cpu_share"] = findings.cpu_share();
  report.data["kinds"] = list_of(tally_columns, findings.tallies);
  report.pictures = {{"Verdicts, by the planted slowdown", Figure::bars, "planted_slowdown",
                      "slower same unclear faster", "", "", "kinds"}};
  report.rows = report.data.find("kinds");
}

} // namespace

std::string key_beside(const std::string& load) { return cpu_model() + "; beside " + load; }

LabReport run_trials(const TrialSubject& subject, std::int64_t trials, Progress& progress,
                     const LineCache& kept) {
  const Stopwatch watch;
  std::string cut_short;
  Findings findings(subject.rows);
  LabReport report;
  LoadWatch load;
  for (std::int64_t i = 0; i < trials && !interrupted(); ++i) {
    if (i > 0 && watch.seconds() * static_cast<double>(i + 1) / static_cast<double>(i) >
                     subject.budget_seconds) {
      cut_short = fmt::format("{} of {} trials fit into --budget", i, trials);
      break;
    }
    progress.within(fmt::format("{} of {}: ", i + 1, trials));
    try {
      std::vector<TrialSession> sessions;
      const int wanted = subject.load.empty() ? sessions_of_trial : 1;
      while (std::ssize(sessions) < wanted) {
        sessions.push_back(subject.run(progress));
        const TrialSession& session = sessions.back();
        report.outcome = session.outcome;
        if (session.interrupted || session.outcome.exit_code != exit_ok) {
          report.notes = session.troubles;
          break;
        }
      }
      if (sessions.back().interrupted || report.outcome.exit_code != exit_ok) {
        break;
      }
      findings.add(sessions);
      for (const TrialSession& session : sessions) {
        for (const TimedRow& row : session.rows) {
          load.add_work(row.samples);
        }
      }
    } catch (const Interrupted&) {
      break;
    }
  }
  report.interrupted = interrupted();
  if (findings.trials() > 0) {
    describe(subject, findings, report);
    if (!cut_short.empty()) {
      report.notes.push_back(cut_short);
    }
    if (subject.load.empty()) {
      mark_disturbed(report, load);
    } else {
      keep_beside(subject, findings.tallies.front(), findings.tallies.back(), kept, report);
      report.load_is_judged = true; // it is there on purpose
      report.notes.push_back(
          fmt::format("beside {}; {}", subject.load, width_text(findings.tallies.front())));
    }
    judge_identical(findings.tallies.front(), kept, !subject.load.empty(), report);
    return report;
  }
  if (report.interrupted) {
    throw Interrupted();
  }
  if (report.outcome.exit_code == exit_ok) {
    report.outcome = {exit_error, "no trial has enough samples; give more --budget"};
  }
  report.sentence = "No trial could be measured.";
  return report;
}

} // namespace diffbench::bench
