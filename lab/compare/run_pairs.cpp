// SPDX-License-Identifier: Apache-2.0
#include "run_pairs.hpp"

#include "file_comparison.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace diffbench::bench {

namespace {

/// By what the report page has in the name of a machine; the build may be another.
bool same_machine(const RecordedRun& one, const RecordedRun& other) {
  static constexpr std::array<std::string_view, 5> names{"host_name", "cpu_model", "usable_cpus",
                                                         "isa", "gpu_name"};
  return std::ranges::all_of(names, [&](std::string_view name) {
    return fact(one.machine, name) == fact(other.machine, name);
  });
}

std::vector<std::size_t> in_time(std::span<const NamedRun> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return runs[i].run.date; });
  return order;
}

enum class Machine { same, another };

/// Pairs the last of `order` with the newest of the others on such a machine with which any row can
/// be compared; of one machine only runs with equal settings. Returns whether there is one.
bool add_pair(std::vector<RunPair>& pairs, std::span<const NamedRun> runs,
              std::span<const std::size_t> order, Machine machine) {
  const NamedRun& now = runs[order.back()];
  for (std::size_t i = order.size() - 1; i-- > 0;) {
    const NamedRun& before = runs[order[i]];
    if (same_machine(before.run, now.run) != (machine == Machine::same)) {
      continue;
    }
    const FileComparison comparison(before.run, now.run);
    const bool alike = machine == Machine::another || comparison.same_settings();
    if (alike && comparison.any_compared()) {
      pairs.push_back({.old_run = order[i],
                       .new_run = order.back(),
                       .same_machine = machine == Machine::same,
                       .report = comparison.report(before.name, now.name)});
      return true;
    }
  }
  return false;
}

} // namespace

std::vector<RunPair> pairs_in_time(std::span<const NamedRun> runs) {
  const std::vector<std::size_t> order = in_time(runs);
  std::vector<RunPair> pairs;
  std::vector<bool> has_newer(runs.size());
  for (std::size_t count = 1; count <= order.size(); ++count) {
    if (add_pair(pairs, runs, std::span(order).first(count), Machine::same)) {
      has_newer[pairs.back().old_run] = true;
    }
  }
  std::vector<std::size_t> newest;
  std::ranges::copy_if(order, std::back_inserter(newest),
                       [&](std::size_t run) { return !has_newer[run]; });
  for (std::size_t count = 1; count <= newest.size(); ++count) {
    (void)add_pair(pairs, runs, std::span(newest).first(count), Machine::another);
  }
  return pairs;
}

} // namespace diffbench::bench
