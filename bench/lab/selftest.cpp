#include "selftest.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "experiment.hpp"
#include "interrupt.hpp"
#include "lab_report.hpp"
#include "option_groups.hpp"
#include "option_values.hpp"
#include "ratio.hpp"
#include "selection.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

using Clock = std::chrono::steady_clock;

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
  ProblemGroup problem;
  std::string backend = "fused", threads, trials, budget;
  LabOutput output;

  void declare(CLI::App& app) {
    problem.default_grid = std::to_string(default_side);
    problem.default_iters = std::to_string(default_iterations);
    problem.declare(app);
    begin_group(app, "What runs");
    declare_value(app, "--backend", backend, "NAME",
                  "backend that is compared with itself (default fused)");
    declare_value(app, "--threads", threads, "N", "for threaded backends");
    declare_value(app, "--trials", trials, "N", "comparisons of each kind (default 20)");
    declare_value(app, "--budget", budget, "SECONDS", "time of one trial (default 5)");
    output.declare(app);
  }
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
  Options options;
  options.problem.nx = options.problem.ny = default_side;
  options.iterations = default_iterations;
  given.problem.read(options);
  options.backends = {given.backend};
  options.baseline = reference_row;
  options.copy_roof = false;
  options.budget_seconds = 5;
  assign_real("--budget", given.budget, options.budget_seconds);
  if (!(options.budget_seconds > 0 && options.budget_seconds <= 3600)) {
    throw InvalidInput(fmt::format("--budget {}: give seconds above 0, up to 3600", given.budget));
  }
  options.precision = 1e-3; // what the budget affords
  if (!given.threads.empty()) {
    options.session.threads =
        static_cast<int>(parse_integer("--threads", given.threads, 1, max_threads));
  }
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

std::string table_of(const Findings& findings) {
  TextTable table({"against the reference", "trials", "FASTER", "SLOWER", "UNCLEAR", "wrong",
                   "found", "median ratio"});
  for (std::size_t i = 0; i < planted.size(); ++i) {
    const Tally& tally = findings.tallies[i];
    std::vector<double> ratios;
    for (const Ratio& ratio : tally.ratios) {
      ratios.push_back(ratio.value);
    }
    const bool same = planted[i].truth == Verdict::unclear;
    const double wrong = tally.share(Verdict::faster) + (same ? tally.share(Verdict::slower) : 0);
    table.add({planted[i].label, std::to_string(tally.ratios.size()),
               std::to_string(tally.count(Verdict::faster)),
               std::to_string(tally.count(Verdict::slower)),
               std::to_string(tally.count(Verdict::unclear)), format_percent(wrong),
               same ? "-" : format_percent(tally.share(Verdict::slower)),
               fmt::format("{:.3f}", quartiles(ratios).median)});
  }
  return table.format();
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

ordered_json json_of(const Options& options, const Findings& findings) {
  ordered_json kinds = ordered_json::array();
  for (std::size_t i = 0; i < planted.size(); ++i) {
    const Tally& tally = findings.tallies[i];
    ordered_json ratios = ordered_json::array();
    for (const Ratio& ratio : tally.ratios) {
      ratios.push_back({{"ratio", number(ratio.value)},
                        {"low", ratio.interval ? number(ratio.interval->low) : nullptr},
                        {"high", ratio.interval ? number(ratio.interval->high) : nullptr}});
    }
    kinds.push_back({{"planted_slowdown", planted[i].slowdown},
                     {"trials", tally.ratios.size()},
                     {"faster", tally.count(Verdict::faster)},
                     {"slower", tally.count(Verdict::slower)},
                     {"unclear", tally.count(Verdict::unclear)},
                     {"ratios", std::move(ratios)}});
  }
  return {{"backend", options.backends.front()},
          {"nx", options.problem.nx},
          {"ny", options.problem.ny},
          {"iterations", options.iterations},
          {"iterations_per_sample", {findings.fewest_steps, findings.most_steps}},
          {"trial_seconds", options.budget_seconds},
          {"cpu_share", number(findings.cpu_seconds / findings.wall_seconds)},
          {"kinds", std::move(kinds)}};
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
      table_of(findings);
  report.sentence = sentence_of(findings);
  report.notes.push_back(fmt::format("the rows got {:.0f} % of the CPU time that they asked for",
                                     100 * findings.cpu_seconds / findings.wall_seconds));
  report.data = json_of(options, findings);
  return report;
}

int run_selftest(const SelftestOptions& given, const Invocation& invocation) {
  const Options options = trial_options(given);
  std::int64_t trials = 20;
  assign_integer("--trials", given.trials, 1, 100'000, trials);
  return run_experiment("selftest", given.output, invocation,
                        [&](Progress& progress) { return run_trials(options, trials, progress); });
}

} // namespace

Action declare_selftest(CLI::App& app) {
  auto options = std::make_shared<SelftestOptions>();
  options->declare(app);
  return [options](const Invocation& invocation) { return run_selftest(*options, invocation); };
}

} // namespace diffbench::bench
