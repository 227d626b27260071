#include "selftest_trials.hpp"

#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "least_effect.hpp"
#include "ratio.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

namespace diffbench::bench {

namespace {

/// Fewer say nothing of a rate.
constexpr std::int64_t least_trials = 10;

/// How the trials of one row came out.
struct Tally : TrialRow {
  std::array<int, 4> verdicts{}; ///< by Verdict
  std::vector<Ratio> ratios;

  void add(const Ratio& ratio) {
    ++verdicts[static_cast<std::size_t>(judge(ratio, least_effect_in_run))];
    ratios.push_back(ratio);
  }
  [[nodiscard]] bool identical() const { return slowdown == 0; }
  [[nodiscard]] int count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  /// Of the trials, which had `verdict`.
  [[nodiscard]] double share(Verdict verdict) const {
    return count(verdict) / static_cast<double>(ratios.size());
  }
};

struct Findings {
  std::vector<Tally> tallies; ///< of all rows but the reference
  double wall_seconds = 0;    ///< of all samples
  double cpu_seconds = 0;     ///< times the CPUs that they asked for
  std::int64_t fewest_steps = std::numeric_limits<std::int64_t>::max(); ///< of a sample
  std::int64_t most_steps = 0;

  Findings() {
    for (std::size_t i = 1; i < trial_rows.size(); ++i) {
      tallies.push_back({trial_rows[i], {}, {}});
    }
  }

  [[nodiscard]] std::size_t trials() const { return tallies.front().ratios.size(); }
  [[nodiscard]] double cpu_share() const { return cpu_seconds / wall_seconds; }

  /// Of a trial's sessions, in which all rows were verified and timed.
  void add(std::span<const Trial> sessions) {
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      std::vector<double> quotients;
      for (const Trial& session : sessions) {
        if (const auto ratio =
                paired_ratio(session.rows[i + 1].samples, session.rows.front().samples)) {
          quotients.push_back(ratio->value);
        }
      }
      if (!quotients.empty()) {
        tallies[i].add(ratio_of(std::move(quotients)));
      }
    }
    for (const Trial& session : sessions) {
      add_times(session);
    }
  }

  [[nodiscard]] IdenticalCode identical() const {
    std::vector<double> excluded;
    std::ranges::transform(tallies.front().ratios, std::back_inserter(excluded), excluded_effect);
    return identical_code(excluded);
  }

 private:
  void add_times(const Trial& session) {
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

template <Verdict verdict>
Value count_of(const Tally& tally) {
  return tally.count(verdict);
}

/// Of identical code either difference is wrong.
Value wrong_share(const Tally& tally) {
  return tally.share(Verdict::faster) + (tally.identical() ? tally.share(Verdict::slower) : 0);
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
     [](const Tally& t) { return t.identical() ? Value() : Value(t.share(Verdict::slower)); }},
    {nullptr, "median ratio", as_thousandths, median_ratio},
    {"ratios", nullptr, as_text, ratios_json},
};

std::string sentence_of(const Findings& findings) {
  const Tally& same = findings.tallies.front();
  std::string sentence =
      fmt::format("Of {} comparisons of identical code {} got a wrong verdict ({})",
                  same.ratios.size(), same.count(Verdict::faster) + same.count(Verdict::slower),
                  format_percent(same.share(Verdict::faster) + same.share(Verdict::slower)));
  for (std::size_t i = 1; i < findings.tallies.size(); ++i) {
    const Tally& tally = findings.tallies[i];
    sentence += fmt::format("; a slowdown of {:g} % was called SLOWER in {}", 100 * tally.slowdown,
                            format_percent(tally.share(Verdict::slower)));
  }
  return sentence + ".";
}

/// What it means for verdicts here: kept for them where nothing else ran.
void judge_verdicts(const Findings& findings, const LineCache& kept, LabReport& report) {
  const IdenticalCode identical = findings.identical();
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
    keep_identical_code(identical, kept);
  } catch (const Error& error) {
    report.notes.push_back(fmt::format("not kept for other verbs: {}", error.what()));
  }
}

/// Adds what was found; there is some.
void describe(const TrialSubject& subject, const Findings& findings, LabReport& report) {
  const bool alike = findings.fewest_steps == findings.most_steps;
  report.text =
      fmt::format("{}, samples of {}{} steps\n\n", subject.title,
                  alike ? "" : fmt::format("{} to ", findings.fewest_steps), findings.most_steps) +
      format_rows(tally_columns, findings.tallies);
  report.sentence = sentence_of(findings);
  report.figures = report.text.substr(0, report.text.find('\n') + 1);
  report.found_in_data = {"kinds", "identical"};
  report.notes.push_back(fmt::format("the rows got {:.0f} % of the CPU time that they asked for",
                                     100 * findings.cpu_share()));
  report.data = subject.facts;
  report.data["iterations_per_sample"] = Value::list({findings.fewest_steps, findings.most_steps});
  report.data["trial_seconds"] = subject.trial_seconds;
  report.data["cpu_share"] = findings.cpu_share();
  report.data["kinds"] = list_of(tally_columns, findings.tallies);
  report.rows = report.data.find("kinds");
}

} // namespace

LabReport run_trials(const TrialSubject& subject, std::int64_t trials, Progress& progress,
                     const LineCache& kept) {
  Findings findings;
  LabReport report;
  LoadWatch load;
  for (std::int64_t i = 0; i < trials && !interrupted(); ++i) {
    progress.within(fmt::format("{} of {}: ", i + 1, trials));
    try {
      std::vector<Trial> sessions;
      while (std::ssize(sessions) < sessions_of_trial) {
        sessions.push_back(subject.run(progress));
        const Trial& session = sessions.back();
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
      for (const Trial& session : sessions) {
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
    mark_disturbed(report, load);
    judge_verdicts(findings, kept, report);
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

void require_cpu(DeviceKind device, std::string_view option, std::string_view name) {
  if (device != DeviceKind::cpu) {
    throw InvalidInput(
        fmt::format("{} {}: choose an engine on the CPU; only those can be compared with "
                    "themselves",
                    option, name));
  }
}

} // namespace diffbench::bench
