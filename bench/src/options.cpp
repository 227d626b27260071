#include "options.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "peer.hpp"
#include "version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::int64_t max_iterations = 1'000'000'000'000;
constexpr double max_budget_seconds = 86400;

constexpr const char* footer = R"(Example:
  diffbench --grid 640 --iters 1000                     all backends, verified, then timed
  diffbench --grid 8192 --backend simd --json out.json  one backend, results kept
  diffbench --backend simd --peer numpy --baseline peer:numpy

Exit codes:
  0 ok   1 error   2 wrong usage or input   3 a result is not the reference's
  4 a backend, instruction set or peer asked for by name is not available   130 interrupted)";

/// The options as they were typed. Values are parsed below, not by CLI11, so that every message
/// names option, value and limits in the same way.
struct Typed {
  std::string grid, iters, dt, diffusivity, spacing, boundary, boundary_value, init, seed, dtype;
  std::vector<std::string> backends, peers;
  std::string baseline, threads, isa, budget, json, csv, save, png, range;
  std::string snapshot_every, snapshot_dir, snapshot_format;
  bool allow_unstable = false, pinned = false, no_progress = false, version = false;
};

void declare_comparison(CLI::App& app, Typed& typed) {
  auto value = [&app](const std::string& flag, std::string& target, const char* type,
                      const char* text) {
    return app.add_option(flag, target, text)->type_name(type);
  };
  app.option_defaults()->group("Problem");
  value("--grid", typed.grid, "N|NXxNY", "cells; NX counts columns (default 640)");
  value("--iters", typed.iters, "K", "time steps (default 1000)");
  value("--dt", typed.dt, "X", "time step (default 0.1); stable up to h^2/(4 D)");
  value("--diffusivity", typed.diffusivity, "X", "D (default 1)");
  value("--spacing", typed.spacing, "X", "h, the distance of two cells (default 1)");
  value("--boundary", typed.boundary, "NAME", "periodic (default), dirichlet or neumann");
  value("--boundary-value", typed.boundary_value, "X", "outside cells under dirichlet (default 0)");
  value("--init", typed.init, "NAME|FILE.npy",
        "block (default), gaussian, sine, random or a .npy file");
  value("--seed", typed.seed, "N", "for --init random (default 1)");
  value("--dtype", typed.dtype, "NAME", "float32 (default) or float64");
  app.add_flag("--allow-unstable", typed.allow_unstable, "run beyond the stability limit");

  app.option_defaults()->group("What runs");
  app.add_option("--backend", typed.backends, "backend to run, may be repeated (default: all)")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--peer", typed.peers, "numpy, numba or torch beside them, may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->delimiter(',');
  value("--baseline", typed.baseline, "NAME", "row that speed-ups refer to (default xtensor_roll)");
  value("--threads", typed.threads, "N", "for threaded backends (default: the usable CPUs)");
  value("--isa", typed.isa, "NAME", "baseline, avx2 or avx512 (default: the best of this CPU)");
  value("--budget", typed.budget, "SECONDS", "time for the timing rounds (default 10)");
  app.add_flag("--pinned", typed.pinned, "page-locked host memory for GPU backends");

  app.option_defaults()->group("Output");
  value("--json", typed.json, "FILE|-", "results as JSON; - is stdout, and nothing else is then");
  value("--csv", typed.csv, "FILE|-", "results as CSV");
  value("--save", typed.save, "FILE.npy", "the final field");
  value("--png", typed.png, "FILE.png", "picture of the final field");
  value("--range", typed.range, "LO:HI", "values drawn in the first and last colour");
  value("--snapshot-every", typed.snapshot_every, "K", "keep the field every K steps");
  value("--snapshot-dir", typed.snapshot_dir, "DIR", "where (default: snapshots)");
  value("--snapshot-format", typed.snapshot_format, "NAME", "npy (default) or png");
  app.add_flag("--no-progress", typed.no_progress, "no progress bar");
  app.add_flag("--version", typed.version, "print the version and exit");
}

// --- values -------------------------------------------------------------------------------------

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < low || *number > high) {
    throw InvalidInput(
        fmt::format("{} {}: give a whole number from {} to {}", option, text, low, high));
  }
  return *number;
}

double parse_real(std::string_view option, std::string_view text) {
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    throw InvalidInput(fmt::format("{} {}: give a finite number such as 0.1", option, text));
  }
  return *number;
}

/// "640" or "640x480".
void parse_grid(std::string_view text, Problem& problem) {
  const std::size_t cross = text.find('x');
  const std::string_view columns = text.substr(0, cross);
  const std::string_view rows = cross == std::string_view::npos ? columns : text.substr(cross + 1);
  const auto nx = parse_number<std::int64_t>(columns);
  const auto ny = parse_number<std::int64_t>(rows);
  if (!nx || !ny) {
    throw InvalidInput(fmt::format("--grid {}: give N or NXxNY, such as 640 or 1920x1080", text));
  }
  if (std::min(*nx, *ny) < min_extent || std::max(*nx, *ny) > max_extent) {
    throw InvalidInput(
        fmt::format("--grid {}: each side has {} to {} cells", text, min_extent, max_extent));
  }
  problem.nx = *nx;
  problem.ny = *ny;
}

ColourRange parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto low = parse_number<double>(text.substr(0, colon));
  const auto high =
      colon == std::string_view::npos ? std::nullopt : parse_number<double>(text.substr(colon + 1));
  if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high) || !(*low < *high)) {
    throw InvalidInput(fmt::format("--range {}: give LO:HI with LO < HI, such as 0:0.005", text));
  }
  return {.low = *low, .high = *high};
}

/// Calls `parse` when the option was given; its message then begins with the option's name.
template <typename Target, typename Parse>
void assign(std::string_view option, const std::string& text, Target& target, Parse parse) {
  if (text.empty()) {
    return;
  }
  try {
    target = parse(text);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", option, error.what()));
  }
}

void assign_real(std::string_view option, const std::string& text, double& target) {
  if (!text.empty()) {
    target = parse_real(option, text);
  }
}

void assign_integer(std::string_view option, const std::string& text, std::int64_t low,
                    std::int64_t high, std::int64_t& target) {
  if (!text.empty()) {
    target = parse_integer(option, text, low, high);
  }
}

// --- groups of options --------------------------------------------------------------------------

void read_problem(const Typed& typed, Options& options) {
  Problem& problem = options.problem;
  if (!typed.grid.empty()) {
    parse_grid(typed.grid, problem);
  }
  assign_integer("--iters", typed.iters, 1, max_iterations, options.iterations);
  assign_real("--dt", typed.dt, problem.dt);
  assign_real("--diffusivity", typed.diffusivity, problem.diffusivity);
  assign_real("--spacing", typed.spacing, problem.spacing);
  assign_real("--boundary-value", typed.boundary_value, problem.boundary_value);
  assign("--boundary", typed.boundary, problem.boundary, parse_boundary);
  assign("--dtype", typed.dtype, problem.dtype, parse_dtype);
  assign("--init", typed.init, options.initial, parse_initial);
  if (!typed.seed.empty()) {
    const auto seed = parse_number<std::uint64_t>(typed.seed);
    if (!seed) {
      throw InvalidInput(
          fmt::format("--seed {}: give a whole number from 0 to 2^64-1", typed.seed));
    }
    options.initial.seed = *seed;
  }
  validate(problem, typed.allow_unstable);
}

/// Names once each, in the order given.
std::vector<std::string> without_repeats(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) {
    if (std::find(result.begin(), result.end(), name) == result.end()) {
      result.push_back(name);
    }
  }
  return result;
}

void check_baseline(const std::string& name) {
  std::vector<std::string> known;
  for (const BackendInfo& backend : backend_ladder()) {
    known.emplace_back(backend.name);
  }
  for (const MissingBackend& backend : missing_backends()) {
    known.emplace_back(backend.name);
  }
  for (const std::string& peer : peer_names()) {
    known.push_back(peer_row_name(peer));
  }
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw InvalidInput(
        fmt::format("--baseline {}: no such row; choose of {}", name, fmt::join(known, ", ")));
  }
}

void read_what_runs(const Typed& typed, Options& options) {
  options.backends = without_repeats(typed.backends);
  for (const std::string& name : options.backends) {
    (void)require_backend(name);
  }
  options.peers = without_repeats(typed.peers);
  const std::vector<std::string> peers = peer_names();
  for (const std::string& name : options.peers) {
    if (std::find(peers.begin(), peers.end(), name) == peers.end()) {
      throw InvalidInput(
          fmt::format("--peer {}: no such peer; choose of {}", name, fmt::join(peers, ", ")));
    }
  }
  if (!typed.baseline.empty()) {
    check_baseline(typed.baseline);
    options.baseline = typed.baseline;
  }
  if (!typed.threads.empty()) {
    options.session.threads =
        static_cast<int>(parse_integer("--threads", typed.threads, 1, max_threads));
  }
  assign("--isa", typed.isa, options.session.isa, parse_isa);
  if (options.session.isa && *options.session.isa > best_isa()) {
    throw Unavailable(
        fmt::format("--isa {}: this CPU has no more than {}", typed.isa, to_string(best_isa())));
  }
  assign_real("--budget", typed.budget, options.budget_seconds);
  if (!(options.budget_seconds > 0 && options.budget_seconds <= max_budget_seconds)) {
    throw InvalidInput(fmt::format("--budget {}: give seconds above 0, up to {}", typed.budget,
                                   max_budget_seconds));
  }
  options.pinned = typed.pinned;
}

void read_record(const Typed& typed, Options& options) {
  RecordOptions& record = options.record;
  record.save = typed.save;
  record.png = typed.png;
  if (!typed.range.empty()) {
    record.range = parse_range(typed.range);
  }
  assign_integer("--snapshot-every", typed.snapshot_every, 1, max_iterations,
                 record.snapshot_every);
  record.snapshot_dir = typed.snapshot_dir.empty() ? "snapshots" : typed.snapshot_dir;
  if (typed.snapshot_format == "png") {
    record.snapshot_format = SnapshotFormat::png;
  } else if (!typed.snapshot_format.empty() && typed.snapshot_format != "npy") {
    throw InvalidInput(
        fmt::format("--snapshot-format {}: choose of npy, png", typed.snapshot_format));
  }
  if (record.snapshot_every == 0 && !(typed.snapshot_dir + typed.snapshot_format).empty()) {
    throw InvalidInput("snapshots are kept only with --snapshot-every K");
  }
}

void read_output(const Typed& typed, Options& options) {
  options.json = typed.json;
  options.csv = typed.csv;
  options.progress = !typed.no_progress;
  std::vector<std::string> paths;
  for (const std::string& path :
       {options.json, options.csv, options.record.save, options.record.png}) {
    if (path.empty()) {
      continue;
    }
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
      throw InvalidInput(fmt::format("{}: two outputs cannot go to the same place", path));
    }
    paths.push_back(path);
  }
}

/// CLI11 cannot tell an option that was not given from one given as "": the latter is a mistake
/// such as an unset variable of a script.
void refuse_empty_values(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].empty()) {
      throw InvalidInput(i == 0 ? std::string("an empty argument")
                                : fmt::format("{}: the value is empty", arguments[i - 1]));
    }
  }
}

Options read_options(const Typed& typed, std::span<const std::string> arguments) {
  Options options;
  read_problem(typed, options);
  read_what_runs(typed, options);
  read_record(typed, options);
  read_output(typed, options);
  options.command = fmt::format("diffbench {}", fmt::join(arguments, " "));
  return options;
}

} // namespace

std::string peer_row_name(std::string_view peer) { return fmt::format("peer:{}", peer); }

ParsedCommand parse_options(std::span<const std::string> arguments) {
  refuse_empty_values(arguments);
  CLI::App app(
      "Compares backends that solve the 2D diffusion equation: all must give the same "
      "bits, then they are timed.",
      "diffbench");
  app.footer(footer);
  app.set_help_flag("-h,--help", "print this and exit");
  app.get_formatter()->column_width(34);
  Typed typed;
  declare_comparison(app, typed);
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Action>> verbs;
  for (const Subcommand& verb : subcommands()) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.description));
    sub->footer(fmt::format("Example:\n  {}", verb.example));
    verbs.emplace_back(sub, verb.declare(*sub));
  }

  // CLI11 takes the arguments from the back of the vector.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Text{app.help()};
  } catch (const CLI::ParseError& error) {
    throw InvalidInput(fmt::format("{} (see diffbench --help)", error.what()));
  }
  if (typed.version) {
    return Text{version_text() + "\n"};
  }
  for (const auto& [sub, action] : verbs) {
    if (sub->parsed()) {
      return action;
    }
  }
  return read_options(typed, arguments);
}

} // namespace diffbench::bench
