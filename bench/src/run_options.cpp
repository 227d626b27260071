// Options of what runs, and for how long.
#include "option_groups.hpp"
#include "option_values.hpp"

#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "peer.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

constexpr double max_budget_seconds = 86400;

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

void check_peers(const std::vector<std::string>& names) {
  const std::vector<std::string> known = peer_names();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidInput(
          fmt::format("--peer {}: no such peer; choose of {}", name, fmt::join(known, ", ")));
    }
  }
}

} // namespace

std::string peer_row_name(std::string_view peer) { return fmt::format("peer:{}", peer); }

void RunGroup::declare(CLI::App& app) {
  begin_group(app, "What runs");
  declare_values(app, "--backend", backends, "NAME",
                 "backend to run, may be repeated (default: all)");
  declare_values(app, "--peer", peers, "NAME",
                 "Python program beside them (see diffbench list), may be repeated");
  declare_value(app, "--baseline", baseline, "NAME",
                "row that speed-ups refer to (default xtensor_roll)");
  declare_value(app, "--threads", threads, "N", "for threaded backends (default: the usable CPUs)");
  declare_value(app, "--isa", isa, "NAME",
                "baseline, avx2 or avx512 (default: the best of this CPU)");
  declare_value(app, "--budget", budget, "SECONDS",
                ("time for the timing rounds (default " + default_budget + ")").c_str());
  declare_value(app, "--precision", precision, "X%",
                "a row takes samples until its median is known to that, or the budget is spent");
}

void RunGroup::read(Options& options) const {
  options.backends = without_repeats(backends);
  const auto& compiled = all_backends();
  for (const std::string& name : options.backends) {
    const bool known =
        std::any_of(compiled.begin(), compiled.end(),
                    [&](const BackendInfo& backend) { return backend.name == name; });
    if (!known) {
      (void)require_backend(name); // says why; whether known ones can run, select_backends() asks
    }
  }
  options.peers = without_repeats(peers);
  check_peers(options.peers);
  if (!baseline.empty()) {
    check_baseline(baseline);
    options.baseline = baseline;
  }
  if (!threads.empty()) {
    options.session.threads = static_cast<int>(parse_integer("--threads", threads, 1, max_threads));
  }
  assign("--isa", isa, options.session.isa, parse_isa);
  if (options.session.isa && *options.session.isa > best_isa()) {
    throw Unavailable(
        fmt::format("--isa {}: this CPU has no more than {}", isa, to_string(best_isa())));
  }
  assign_real("--budget", budget, options.budget_seconds);
  if (!(options.budget_seconds > 0 && options.budget_seconds <= max_budget_seconds)) {
    throw InvalidInput(
        fmt::format("--budget {}: give seconds above 0, up to {}", budget, max_budget_seconds));
  }
  if (!precision.empty()) {
    options.precision = parse_percent("--precision", precision);
  }
}

} // namespace diffbench::bench
