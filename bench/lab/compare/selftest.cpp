#include "columns.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "lab_verbs.hpp"
#include "option_groups.hpp"
#include "ratio.hpp"
#include "selection.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr const char* reference_row = "reference";
// Small enough for many trials, and long enough samples for the clock.
constexpr std::int64_t default_side = 256;
constexpr std::int64_t default_iterations = 100;

/// What stands beside the reference in each trial: all run the same backend.
struct Planted {
  const char* label;
  double slowdown;
  Verdict truth;
};
constexpr std::array planted{
    Planted{"same", 0, Verdict::unclear},
    Planted{"5 % slower", 0.05, Verdict::slower},
    Planted{"10 % slower", 0.10, Verdict::slower},
};

struct SelftestOptions {
  Options run;
  std::string backend = "fused";
  std::int64_t trials = 20;
  LabOutput output;
};

/// How the trials of one kind came out.
struct Tally {
  std::array<int, 3> verdicts{}; ///< by Verdict
  std::vector<Ratio> ratios;

  void add(const Ratio& ratio) {
    ++verdicts[static_cast<std::size_t>(judge(ratio, least_effect_in_run))];
    ratios.push_back(ratio);
  }
  [[nodiscard]] int count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  /// Of the trials, which had `verdict`.
  [[nodiscard]] double share(Verdict verdict) const {
    return count(verdict) / static_cast<double>(ratios.size());
  }
};

struct Findings {
  std::array<Tally, planted.size()> tallies;
  double wall_seconds = 0; ///< of all samples
  double cpu_seconds = 0;  ///< times the CPUs that they asked for
  std::int64_t fewest_steps = std::numeric_limits<std::int64_t>::max(); ///< of a sample
  std::int64_t most_steps = 0;

  [[nodiscard]] std::size_t trials() const { return tallies.front().ratios.size(); }

  /// Of a trial in which all rows were verified and timed.
  void add(const ComparisonResult& trial) {
    const Row& reference = *trial.find(reference_row);
    for (std::size_t i = 0; i < planted.size(); ++i) {
      const Row& row = *trial.find(planted[i].label);
      if (const auto ratio = paired_ratio(row.samples, reference.samples)) {
        tallies[i].add(*ratio);
      }
    }
    for (const Row& row : trial.rows) {
      for (const Sample& sample : row.samples) {
        fewest_steps = std::min(fewest_steps, sample.iterations);
        most_steps = std::max(most_steps, sample.iterations);
        wall_seconds += sample.seconds;
        cpu_seconds += sample.cpu_seconds.value_or(0) / row.provenance.threads;
      }
    }
  }
};

Options trial_options(const SelftestOptions& given) {
  Options options = given.run;
  options.backends = {given.backend};
  options.baseline = reference_row;
  options.copy_roof = false;
  options.precision = 1e-3; // what the budget affords
  return options;
}

/// The backend beside itself, once as it is and once with each planted slowdown.
std::vector<Candidate> trial_candidates(const Options& options) {
  (void)require_backend(options.backends.front()); // says why, when there is none
  Candidate candidate = select_backends(options).front();
  if (candidate.backend.device != DeviceKind::cpu) {
    throw InvalidInput(fmt::format(
        "--backend {}: choose one of the CPU: only those have been tried", candidate.backend.name));
  }
  candidate.label = reference_row;
  std::vector<Candidate> candidates{candidate};
  for (const Planted& kind : planted) {
    candidate.label = kind.label;
    candidate.slowdown = kind.slowdown;
    candidates.push_back(candidate);
  }
  return candidates;
}

struct KindLine : Planted, Tally {};

template <Verdict verdict>
Value count_of(const KindLine& line) {
  return line.count(verdict);
}

/// Of identical code any verdict is wrong.
Value wrong_share(const KindLine& line) {
  return line.share(Verdict::faster) +
         (line.truth == Verdict::unclear ? line.share(Verdict::slower) : 0);
}

Value ratios_json(const KindLine& line) {
  Value ratios = Value::list();
  for (const Ratio& ratio : line.ratios) {
    ratios.push_back({{"ratio", ratio.value},
                      {"low", ratio.interval ? Value(ratio.interval->low) : nullptr},
                      {"high", ratio.interval ? Value(ratio.interval->high) : nullptr}});
  }
  return ratios;
}

Value median_ratio(const KindLine& line) {
  std::vector<double> values;
  std::ranges::transform(line.ratios, std::back_inserter(values), &Ratio::value);
  return quartiles(values).median;
}

constexpr Column<KindLine> kind_columns[] = {
    {nullptr, "against the reference", as_text, field<&KindLine::label>},
    {"planted_slowdown", nullptr, as_text, field<&KindLine::slowdown>},
    {"trials", "trials", as_text, [](const KindLine& l) -> Value { return l.ratios.size(); }},
    {"faster", "FASTER", as_text, count_of<Verdict::faster>},
    {"slower", "SLOWER", as_text, count_of<Verdict::slower>},
    {"unclear", "UNCLEAR", as_text, count_of<Verdict::unclear>},
    {nullptr, "wrong", as_percent, wrong_share},
    {nullptr, "found", as_percent,
     [](const KindLine& l) {
       return l.truth == Verdict::unclear ? Value() : Value(l.share(Verdict::slower));
     }},
    {nullptr, "median ratio", as_thousandths, median_ratio},
    {"ratios", nullptr, as_text, ratios_json},
};

std::vector<KindLine> lines_of(const Findings& findings) {
  std::vector<KindLine> lines;
  for (std::size_t i = 0; i < planted.size(); ++i) {
    lines.push_back({planted[i], findings.tallies[i]});
  }
  return lines;
}

std::string sentence_of(const Findings& findings) {
  const Tally& same = findings.tallies.front();
  std::string sentence =
      fmt::format("Of {} comparisons of identical code {} got a verdict ({})", same.ratios.size(),
                  same.count(Verdict::faster) + same.count(Verdict::slower),
                  format_percent(1 - same.share(Verdict::unclear)));
  for (std::size_t i = 1; i < planted.size(); ++i) {
    sentence += fmt::format("; {:g} % more time was called SLOWER in {}", 100 * planted[i].slowdown,
                            format_percent(findings.tallies[i].share(Verdict::slower)));
  }
  return sentence + ".";
}

Value json_of(const Options& options, const Findings& findings) {
  return {{"backend", options.backends.front()},
          {"nx", options.problem.nx},
          {"ny", options.problem.ny},
          {"iterations", options.iterations},
          {"iterations_per_sample", Value::list({findings.fewest_steps, findings.most_steps})},
          {"trial_seconds", options.budget_seconds},
          {"cpu_share", findings.cpu_seconds / findings.wall_seconds},
          {"kinds", list_of(kind_columns, lines_of(findings))}};
}

LabReport run_trials(const Options& options, std::int64_t trials, Progress& progress) {
  const std::vector<Candidate> candidates = trial_candidates(options);
  Findings findings;
  LabReport report;
  for (std::int64_t trial = 0; trial < trials && !interrupted(); ++trial) {
    progress.within(fmt::format("{} of {}: ", trial + 1, trials));
    try {
      const ComparisonResult result = measure(options, candidates, progress);
      if (result.interrupted) {
        break;
      }
      if (report.outcome = outcome_of(result); report.outcome.exit_code != exit_ok) {
        report.notes = troubles(result);
        break;
      }
      findings.add(result);
    } catch (const Interrupted&) {
      break;
    }
  }
  report.interrupted = interrupted();
  if (findings.trials() == 0) {
    if (report.interrupted) {
      throw Interrupted();
    }
    if (report.outcome.exit_code == exit_ok) {
      report.outcome = {exit_error, "no trial has enough samples; give more --budget"};
    }
    report.sentence = "No trial could be measured.";
    return report;
  }
  const bool alike = findings.fewest_steps == findings.most_steps;
  report.text =
      fmt::format("{} with itself, {}x{} {}, samples of {}{} steps\n\n", options.backends.front(),
                  options.problem.nx, options.problem.ny, to_string(options.problem.dtype),
                  alike ? "" : fmt::format("{} to ", findings.fewest_steps), findings.most_steps) +
      format_rows(kind_columns, lines_of(findings));
  report.sentence = sentence_of(findings);
  report.notes.push_back(fmt::format("the rows got {:.0f} % of the CPU time that they asked for",
                                     100 * findings.cpu_seconds / findings.wall_seconds));
  report.data = json_of(options, findings);
  report.rows = report.data.find("kinds");
  return report;
}

} // namespace

Action declare_selftest(OptionList& options) {
  const auto typed = std::make_shared<SelftestOptions>();
  Options& run = typed->run;
  run.problem.nx = run.problem.ny = default_side;
  run.iterations = default_iterations;
  run.budget_seconds = 5;
  declare_problem(options, run);
  options.group("What runs");
  options.text("--backend NAME", typed->backend, "backend that is compared with itself");
  declare_threads(options, run.session.threads, "for threaded backends", "the usable CPUs");
  options.integer("--trials N", typed->trials, {1, 100'000}, "comparisons of each kind");
  declare_budget(options, run.budget_seconds, "time of one trial");
  typed->output.declare(options);
  return [typed](const Invocation& invocation) {
    const Options trial = trial_options(*typed);
    return run_experiment("selftest", typed->output, invocation, [&](Progress& progress) {
      return run_trials(trial, typed->trials, progress);
    });
  };
}

} // namespace diffbench::bench
