// SPDX-License-Identifier: Apache-2.0
// Options of what runs, and for how long.
#include "option_groups.hpp"

#include "diffbench/known_names.hpp"
#include "diffbench/registry.hpp"
#include "peer.hpp"

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

constexpr double max_budget_seconds = 86400;

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) {
    names.push_back(name);
  }
}

void require_known(std::string_view option, const std::string& name, std::string_view what,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) {
    throw InvalidInput(fmt::format("{}: {}", option, unknown_name(what, name, known).what()));
  }
}

std::vector<std::string> known_rows() {
  std::vector<std::string> known = names_in(all_backends());
  std::ranges::copy(names_in(missing_backends()), std::back_inserter(known));
  for (const std::string& peer : peer_names()) {
    known.push_back(peer_row_name(peer));
  }
  return known;
}

std::string too_many_threads(int threads) {
  const int cpus = usable_cpus();
  return threads <= cpus
             ? ""
             : fmt::format(
                   "--threads {}: this process may use {} CPU{}, so threads take turns and "
                   "times say little",
                   threads, cpus, cpus == 1 ? "" : "s");
}

} // namespace

void declare_backends(OptionList& options, std::vector<std::string>& names, std::string_view help) {
  options.values("--backend NAME", help, [&names](std::string_view, const std::string& name) {
    if (std::ranges::find(all_backends(), name, &BackendInfo::name) == all_backends().end()) {
      (void)require_backend(name); // says why; whether known ones can run, select_backends() asks
    }
    add_once(names, name);
  });
}

void declare_threads(OptionList& options, int& threads, std::string_view help,
                     std::string_view otherwise) {
  options.integer("--threads N", threads, thread_limits, help, otherwise);
  options.hint([&threads] { return too_many_threads(threads); });
}

void declare_thread_list(OptionList& options, std::vector<int>& threads, std::string_view help,
                         std::string_view otherwise) {
  options.integers("--threads LIST", threads, thread_limits, help, otherwise);
  options.hint([&threads] {
    return threads.empty() ? "" : too_many_threads(*std::ranges::max_element(threads));
  });
}

void declare_isa(OptionList& options, SessionOptions& session) {
  options.parsed("--isa NAME", session.isa,
                 "baseline, avx2 or avx512 (default: the best of this CPU)",
                 [](const std::string& text) {
                   const Isa isa = isa_names.parse(text);
                   if (isa > best_isa()) {
                     throw Unavailable(fmt::format("--isa {}: this CPU supports at most {}", text,
                                                   to_string(best_isa())));
                   }
                   return isa;
                 });
}

void declare_seconds(OptionList& options, std::string_view usage, double& seconds,
                     std::string_view help, std::string_view otherwise) {
  options.value(usage,
                described(help, fmt::format("above 0, up to {}", max_budget_seconds),
                          otherwise.empty() ? fmt::to_string(seconds) : std::string(otherwise)),
                [&seconds](std::string_view option, const std::string& text) {
                  seconds = parse_real(option, text);
                  if (!(seconds > 0 && seconds <= max_budget_seconds)) {
                    throw InvalidInput(fmt::format("{} {}: give seconds above 0, up to {}", option,
                                                   text, max_budget_seconds));
                  }
                });
}

void declare_budget(OptionList& options, double& seconds, bool& binds, std::string_view each) {
  declare_seconds(options, "--budget SECONDS", seconds,
                  "time for the whole run; by default only the timing rounds have a limit",
                  fmt::format("{:g}{}", seconds, each));
  options.check([&options, &binds] { binds = options.given("--budget"); });
}

void declare_heeded(OptionList& options, const int& threads,
                    std::function<std::vector<std::string>()> names,
                    const std::function<bool()>& others) {
  const auto any = [names = std::move(names)](bool BackendInfo::*heeds) {
    const std::vector<std::string> chosen = names();
    return std::ranges::any_of(all_backends(), [&](const BackendInfo& backend) {
      const bool is_chosen =
          chosen.empty() || std::ranges::find(chosen, backend.name) != chosen.end();
      return is_chosen && backend.*heeds;
    });
  };
  options.needs("--threads", "a threaded backend, such as simd", [=, &threads] {
    return threads <= 1 || any(&BackendInfo::threaded) || (others && others());
  });
  options.needs("--isa", "a backend that has a choice, such as simd",
                [=] { return any(&BackendInfo::has_isa); });
}

void declare_rows(OptionList& options, ComparisonPlan& plan, std::string_view budget_each) {
  options.group("What runs");
  declare_backends(options, plan.backends,
                   "backend to run, may be repeated (default: all but slow ones for teaching)");
  options.flag("--all", plan.all_backends, "all backends, also the slow ones for teaching");
  options.check([&] {
    if (plan.all_backends && !plan.backends.empty()) {
      throw InvalidInput("--all and --backend contradict each other: give one");
    }
  });
  options.values("--peer NAME",
                 "Python program to time beside them (see diffbench list), may be "
                 "repeated",
                 [&plan](std::string_view option, const std::string& name) {
                   require_known(option, name, "peer", peer_names());
                   add_once(plan.peers, name);
                 });
  options.value("--baseline NAME", described("row that speed-ups refer to", "", plan.baseline),
                [&plan](std::string_view option, const std::string& name) {
                  require_known(option, name, "row", known_rows());
                  plan.baseline = name;
                });
  declare_threads(options, plan.session.threads, "for threaded backends", "the usable CPUs");
  declare_isa(options, plan.session);
  declare_heeded(
      options, plan.session.threads, [&plan] { return plan.backends; },
      [&plan] { return !plan.peers.empty(); });
  declare_budget(options, plan.budget_seconds, plan.budget_binds, budget_each);
  options.percent("--precision X%", plan.precision,
                  "take samples until a row's median is known to that precision, or the budget "
                  "is spent");
}

} // namespace diffbench::bench
