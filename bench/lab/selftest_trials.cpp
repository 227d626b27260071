// SPDX-License-Identifier: Apache-2.0
#include "selftest_trials.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"
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

struct Findings {
  std::vector<Tally> tallies; ///< of all rows but the reference
  double wall_seconds = 0;    ///< of all samples
  double cpu_seconds = 0;     ///< times the CPUs that they asked for
  std::int64_t fewest_steps = std::numeric_limits<std::int64_t>::max(); ///< of a sample
  std::int64_t most_steps = 0;

  Findings() {
    for (std::size_t i = 1; i < trial_rows.size(); ++i) {
      tallies.push_back({trial_rows[i]});
    }
  }

  [[nodiscard]] std::size_t trials() const { return tallies.front().ratios.size(); }
  [[nodiscard]] double cpu_share() const { return cpu_seconds / wall_seconds; }

  /// Of a trial's sessions, in which all rows were verified and timed.
  void add(std::span<const TrialSession> sessions) {
    for (std::size_t i = 0; i < tallies.size(); ++i) {
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
      format_tallies(findings.tallies);
  report.sentence = tallies_sentence(findings.tallies);
  report.figures = report.text.substr(0, report.text.find('\n') + 1);
  report.found_in_data = {"kinds", "identical"};
  report.notes.push_back(fmt::format("the rows got {:.0f} % of the CPU time that they asked for",
                                     100 * findings.cpu_share()));
  report.data = subject.facts;
  report.data["iterations_per_sample"] = Value::list({findings.fewest_steps, findings.most_steps});
  report.data["trial_seconds"] = subject.trial_seconds;
  report.data["cpu_share"] = findings.cpu_share();
  report.data["kinds"] = tallies_json(findings.tallies);
  report.pictures = {{"Verdicts, by the planted slowdown", Figure::bars, "planted_slowdown",
                      "slower same unclear faster", "", "", "kinds"}};
  report.rows = report.data.find("kinds");
}

} // namespace

LabReport run_trials(const TrialSubject& subject, std::int64_t trials, Progress& progress,
                     const LineCache& kept) {
  const Stopwatch watch;
  std::string cut_short;
  Findings findings;
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
      while (std::ssize(sessions) < sessions_of_trial) {
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
    mark_disturbed(report, load);
    judge_identical(findings.tallies.front(), "", kept, report);
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
