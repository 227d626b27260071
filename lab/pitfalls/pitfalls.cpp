// SPDX-License-Identifier: Apache-2.0
// `diffbench pitfalls`: its options, the measuring and the report.
#include "assumed_report.hpp"
#include "columns.hpp"
#include "conclusion.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"
#include "output.hpp"
#include "pitfall.hpp"
#include "planning.hpp"
#include "report_json.hpp"
#include "selection.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

struct PitfallOptions {
  Problem problem;
  double budget_seconds = 10;
  std::vector<std::string> only;
  bool list = false;
  std::optional<AssumedCard> assumed;
  LabOutput output;
};

/// The pitfalls that hold most: the baseline beside the tuned code, and float64.
void check_memory_for(Problem problem) {
  problem.dtype = Dtype::float64;
  check_memory(problem, select_backends({.backends = {"xtensor_roll", "simd"}}), 0,
               available_memory());
}

/// Throws Unavailable with the bare reason: it is the same for all that need a GPU, and told once.
BackendInfo backend_here(std::string_view name) {
  const auto found = std::ranges::find(all_backends(), name, &BackendInfo::name);
  if (found != all_backends().end()) {
    if (const Probe probe = found->probe(0); !probe.available) {
      throw Unavailable(probe.reason);
    }
  }
  return require_backend(name);
}

/// What became of a pitfall.
struct Entry {
  Pitfall pitfall;
  Status status = Status::ok;
  std::string reason = {}; ///< why not ok
  std::optional<Finding> finding = {};
  bool wrong = false;                 ///< failed its proof
  Evidence figures = Evidence::sound; ///< what may be said of the finding

  [[nodiscard]] Ending ending() const {
    return {.kind = wrong                      ? Ending::Kind::wrong
                    : status == Status::failed ? Ending::Kind::failed
                    : status == Status::ok     ? Ending::Kind::result
                                               : Ending::Kind::nothing,
            .row = std::string(pitfall.name),
            .reason = reason};
  }
  [[nodiscard]] bool is(Effect effect) const { return finding && effect_of(*finding) == effect; }
  [[nodiscard]] bool misleads() const { return is(Effect::too_slow) || is(Effect::too_fast); }
};

Entry measure_one(const Pitfall& pitfall, Workbench& bench) {
  Entry entry{.pitfall = pitfall};
  try {
    entry.finding = pitfall.measure(bench);
  } catch (const Interrupted&) {
    throw;
  } catch (const Unavailable& error) {
    entry.status = Status::skipped;
    entry.reason = error.what();
  } catch (const std::exception& error) {
    entry.status = Status::failed;
    entry.reason = error.what();
    entry.wrong = dynamic_cast<const WrongResult*>(&error) != nullptr;
  }
  return entry;
}

/// An empty list where there is nothing.
template <auto reading>
Value samples_of(const Entry& entry) {
  return entry.finding ? Value(iteration_seconds(((*entry.finding).*reading).samples))
                       : Value::list();
}

constexpr Column<Entry> pitfall_columns[] = {
    {"name", "pitfall", as_text, field<&Entry::pitfall, &Pitfall::name>},
    {"needs", nullptr, as_text, field<&Entry::pitfall, &Pitfall::needs>},
    {"status", nullptr, as_text, field<&Entry::status>},
    {"reason", nullptr, as_text, field<&Entry::reason, or_null>},
    {"work", nullptr, as_text, field<&Entry::pitfall, &Pitfall::work>},
    {"mistake", nullptr, as_text, field<&Entry::pitfall, &Pitfall::mistake>},
    {"right", nullptr, as_text, field<&Entry::pitfall, &Pitfall::right>},
    {"mistaken_seconds", "the mistake reads", as_seconds,
     field<&Entry::finding, &Finding::mistaken, &Reading::seconds>},
    {"right_seconds", "right", as_seconds,
     field<&Entry::finding, &Finding::right, &Reading::seconds>},
    {nullptr, "effect", as_text,
     [](const Entry& e) {
       return e.finding && concludes(e.figures) ? Value(verdict(*e.finding)) : Value();
     }},
    {"factor", nullptr, as_text, field<&Entry::finding, &Finding::factor>},
    {"factor_width", nullptr, as_text,
     [](const Entry& e) {
       return e.finding ? width_json(e.finding->mistaken.samples, e.finding->right.samples)
                        : Value();
     }},
    {"misleads", nullptr, as_text, // null where it is unclear
     [](const Entry& e) {
       return e.finding && !e.is(Effect::unclear) ? Value(e.misleads()) : Value();
     }},
    {"explanation", nullptr, as_text,
     [](const Entry& e) {
       return e.finding ? Value(explanation(e.pitfall, *e.finding)) : Value();
     }},
    {"advice", nullptr, as_text, field<&Entry::pitfall, &Pitfall::advice>},
    {"mistaken_samples_seconds", nullptr, as_text, samples_of<&Finding::mistaken>},
    {"right_samples_seconds", nullptr, as_text, samples_of<&Finding::right>},
};

std::string figures_text(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& entry) { return !entry.finding; });
  return format_rows(pitfall_columns, entries);
}

std::string details_text(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    const Pitfall& pitfall = entry.pitfall;
    if (entry.finding) {
      const std::string explained =
          concludes(entry.figures) ? fmt::format("  {}.\n", explanation(pitfall, *entry.finding))
                                   : "";
      text += fmt::format("\n{}: {}\n  mistake: {}; right: {}\n{}  {}\n", pitfall.name,
                          pitfall.work, pitfall.mistake, pitfall.right, explained, pitfall.advice);
    }
  }
  return text;
}

/// Those without figures, gathered by their reason.
std::string missing_text(const std::vector<Entry>& entries) {
  std::map<std::pair<Status, std::string>, std::vector<std::string_view>> names;
  for (const Entry& entry : entries) {
    if (entry.status != Status::ok) {
      names[{entry.status, entry.reason}].push_back(entry.pitfall.name);
    }
  }
  std::string text;
  for (const auto& [why, of] : names) {
    text += fmt::format("\n{}: {}: {}\n", why.first == Status::skipped ? "not measured" : "FAILED",
                        fmt::join(of, ", "), why.second);
  }
  return text;
}

/// How far a reading is off, in either direction.
double distance(const Entry& entry) { return std::abs(std::log(entry.finding->factor())); }

/// "; without effect here: a, b", or nothing.
std::string names_of(std::string_view what, const std::vector<Entry>& entries, Effect effect) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) {
    if (entry.is(effect)) {
      names.push_back(entry.pitfall.name);
    }
  }
  return names.empty() ? "" : fmt::format("; {}: {}", what, fmt::join(names, ", "));
}

std::string sentence(const std::vector<Entry>& entries) {
  std::size_t measured = 0;
  std::size_t misleading = 0;
  const Entry* worst = nullptr;
  for (const Entry& entry : entries) {
    measured += entry.finding ? 1U : 0U;
    if (entry.misleads()) {
      ++misleading;
      worst = worst == nullptr || distance(entry) > distance(*worst) ? &entry : worst;
    }
  }
  std::string text = fmt::format("{} of {} mistakes measured here mislead", misleading, measured);
  if (worst != nullptr) {
    text += fmt::format(", {} most of all ({})", worst->pitfall.name, verdict(*worst->finding));
  }
  return text + names_of("without effect here", entries, Effect::none) +
         names_of("unclear in this noise", entries, Effect::unclear) + ".";
}

/// One iteration is the pitfall's whole piece of work.
void add_series(const Entry& entry, const Problem& problem, std::vector<SampleSeries>& series) {
  const auto add = [&](const char* way, const Reading& reading) {
    SampleSeries one{.name = fmt::format("pitfalls/{}/{}/{}x{}", entry.pitfall.name, way,
                                         problem.nx, problem.ny),
                     .samples = reading.samples};
    if (!one.samples.empty()) {
      series.push_back(std::move(one));
    }
  };
  add("mistaken", entry.finding->mistaken);
  add("right", entry.finding->right);
}

bool all_skipped(const std::vector<Entry>& entries) {
  return std::ranges::all_of(entries, [](const Entry& e) { return e.status == Status::skipped; });
}

/// Where all that was chosen needs what is not here, the reason is the error, unless a card that is
/// not here was asked about.
Outcome outcome_of(const std::vector<Entry>& entries, bool assumes) {
  if (all_skipped(entries)) {
    if (assumes &&
        std::ranges::any_of(entries, [](const Entry& e) { return is_assumable(e.pitfall.name); })) {
      return {};
    }
    const Entry& first = entries.front();
    throw Unavailable(fmt::format("{}: {}", first.pitfall.name, first.reason));
  }
  std::vector<Ending> endings;
  std::ranges::transform(entries, std::back_inserter(endings), &Entry::ending);
  return outcome_of(endings);
}

} // namespace

Action declare_pitfalls(OptionList& options) {
  const auto state = std::make_shared<PitfallOptions>();
  options.group("Pitfalls");
  declare_grid(options, state->problem);
  options.texts("--only NAME", state->only, "measure this one (may be repeated)");
  declare_seconds(options, "--budget SECONDS", state->budget_seconds, "time for the whole run");
  options.flag("--list", state->list, "list the names and what each needs; measure nothing");
  for (const char* measured : {"--grid", "--budget"}) {
    options.needs(measured, "a measurement: leave --list out", [state] { return !state->list; });
  }
  declare_assume(options, state->assumed);
  options.check([&list = state->list, &options] {
    if (list && options.given("--assume")) {
      throw InvalidInput("--list and --assume: a list has no figures; give one");
    }
  });
  state->output.declare(options);
  return [state](const Invocation& invocation) {
    const std::vector<Pitfall> chosen = choose_pitfalls(state->only);
    if (state->list &&
        !(state->output.json + state->output.csv + state->output.markdown + state->output.report)
             .empty()) {
      throw InvalidInput(
          "--list measures nothing, so there is nothing for --json, --csv or --report");
    }
    if (state->list) {
      write_text(invocation.out, list_pitfalls(chosen));
      return exit_ok;
    }
    check_memory_for(state->problem);
    state->output.expect(state->budget_seconds,
                         fmt::format("{}, {}", counted(std::ssize(chosen), "pitfall"),
                                     limit_text(state->budget_seconds, true)),
                         true);
    return run_experiment("pitfalls", state->output, invocation, [&](Progress& progress) {
      Workbench bench(state->problem, backend_here);
      return measure_pitfalls(chosen, bench, state->budget_seconds, progress, state->assumed);
    });
  };
}

LabReport measure_pitfalls(std::span<const Pitfall> chosen, Workbench& bench, double budget_seconds,
                           Progress& progress, const std::optional<AssumedCard>& assumed) {
  LabReport report;
  const double start = bench.now();
  constexpr std::size_t dear = 3; // most take far less than a share, so no more are provided for
  std::vector<Entry> entries;
  progress.stage("pitfalls");
  for (const Pitfall& pitfall : chosen) {
    progress.update(static_cast<double>(entries.size()) / static_cast<double>(chosen.size()));
    const double left = std::max(0.0, budget_seconds - (bench.now() - start));
    bench.share(left / static_cast<double>(std::min(chosen.size() - entries.size(), dear)));
    try {
      entries.push_back(measure_one(pitfall, bench));
    } catch (const Interrupted&) {
      if (std::ranges::none_of(entries, [](const Entry& e) { return e.finding.has_value(); })) {
        throw;
      }
      report.interrupted = true;
      break;
    }
  }
  report.outcome = outcome_of(entries, assumed.has_value());
  const Problem& problem = bench.problem();
  const auto text = [&](Evidence figures) {
    for (Entry& entry : entries) {
      entry.figures = figures;
    }
    return fmt::format("{}x{} float32, random field\n\n{}{}{}", problem.nx, problem.ny,
                       figures_text(entries), details_text(entries), missing_text(entries));
  };
  report.figures = text(Evidence::disturbed);
  report.text = text(Evidence::sound);
  report.found_in_data = {"[].factor", "[].misleads", "[].explanation"};
  report.sentence = all_skipped(entries) ? "" : sentence(entries);
  report.data = list_of(pitfall_columns, entries);
  report.columns = heads_of(pitfall_columns);
  report.pictures = {{"What the mistake reads, and what is right", Figure::bars, "name",
                      "mistaken_seconds right_seconds", "", "y", ""}};
  report.rows = report.data;
  for (const Entry& entry : entries) {
    if (entry.finding) {
      add_series(entry, problem, report.series);
    }
  }
  if (assumed) {
    append_assumed_pitfalls(report, *assumed, chosen, problem);
  }
  return report;
}

std::vector<Pitfall> choose_pitfalls(const std::vector<std::string>& names) {
  std::vector<Pitfall> all = all_pitfalls();
  for (const std::string& name : names) {
    if (std::ranges::find(all, name, &Pitfall::name) == all.end()) {
      throw unknown_name("pitfall", name, names_in(all));
    }
  }
  if (!names.empty()) {
    std::erase_if(all, [&](const Pitfall& pitfall) {
      return std::ranges::find(names, pitfall.name) == names.end();
    });
  }
  return all;
}

std::string list_pitfalls(std::span<const Pitfall> pitfalls) {
  std::string text;
  for (const Pitfall& pitfall : pitfalls) {
    text += fmt::format("{:<23} {}  {}: {}\n", pitfall.name, to_string(pitfall.needs), pitfall.work,
                        pitfall.mistake);
  }
  return text;
}

} // namespace diffbench::bench
