// SPDX-License-Identifier: Apache-2.0
#include "least_effect.hpp"

#include "diffbench/machine.hpp"
#include "ratio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <vector>

namespace diffbench::bench {

bool too_many_wrong(std::int64_t wrong, std::int64_t trials) {
  const double p = 1 - ratio_confidence;
  double below = 0; // probability of fewer
  for (std::int64_t k = 0; k < wrong; ++k) {
    const auto n = static_cast<double>(trials);
    const auto i = static_cast<double>(k);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                      i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return 1 - below < 1 - ratio_confidence;
}

bool IdenticalCode::too_many() const { return too_many_wrong(wrong, trials); }

IdenticalCode identical_code(std::span<const double> excluded) {
  std::vector<double> largest_first(excluded.begin(), excluded.end());
  std::ranges::sort(largest_first, std::greater());
  const auto trials = std::ssize(excluded);
  std::int64_t allowed = 0;
  while (allowed + 1 < trials && !too_many_wrong(allowed + 1, trials)) {
    ++allowed;
  }
  return {.trials = trials,
          .wrong = std::ranges::count_if(
              excluded, [](double effect) { return effect > least_effect_in_run; }),
          .least_effect =
              std::max(least_effect_in_run, largest_first[static_cast<std::size_t>(allowed)])};
}

std::optional<IdenticalCode> kept_identical_code(const LineCache& cache) {
  std::istringstream line(cache.find(cpu_model()).value_or(""));
  IdenticalCode kept;
  if (!(line >> kept.trials >> kept.wrong >> kept.least_effect) || !(kept.least_effect > 0)) {
    return std::nullopt;
  }
  return kept;
}

void keep_identical_code(const IdenticalCode& found, const LineCache& cache) {
  const auto kept = kept_identical_code(cache);
  if (kept && kept->trials > found.trials && kept->least_effect >= found.least_effect) {
    return;
  }
  cache.store(cpu_model(), fmt::format("{} {} {}", found.trials, found.wrong, found.least_effect));
}

double least_effect_here() {
  const auto kept = kept_identical_code();
  return kept ? std::max(least_effect_in_run, kept->least_effect) : least_effect_in_run;
}

} // namespace diffbench::bench
