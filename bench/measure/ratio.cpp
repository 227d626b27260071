// SPDX-License-Identifier: Apache-2.0
#include "ratio.hpp"

#include "sign_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace diffbench::bench {

Ratio paired_ratio(std::span<const double> seconds, std::span<const double> reference) {
  std::vector<double> quotients;
  quotients.reserve(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    quotients.push_back(seconds[i] / reference[i]);
  }
  return ratio_of(std::move(quotients));
}

Ratio ratio_of(std::vector<double> quotients, double confidence, Stopping stopping) {
  Ratio ratio{.value = quartiles(quotients).median,
              .interval = median_interval(quotients, confidence, stopping)};
  if (ratio.interval && !(ratio.interval->confidence >= confidence)) {
    ratio.interval.reset();
  }
  return ratio;
}

std::vector<double> paired_quotients(std::span<const Sample> samples,
                                     std::span<const Sample> reference) {
  std::vector<double> quotients;
  for (std::size_t i = 0, j = 0; i < samples.size() && j < reference.size();) {
    if (samples[i].round == reference[j].round) {
      quotients.push_back(samples[i++].seconds_per_iteration() /
                          reference[j++].seconds_per_iteration());
    } else {
      ++(samples[i].round < reference[j].round ? i : j);
    }
  }
  return quotients;
}

namespace {

/// Of all times that the idle machine may need. No interval where there are few.
Ratio ratio_beside_others(std::span<const Sample> samples, std::span<const Sample> reference) {
  constexpr std::size_t few = 3;
  Ratio ratio{.value = iteration_quartiles(samples).median / iteration_quartiles(reference).median,
              .interval = {}};
  if (std::min(samples.size(), reference.size()) >= few) {
    const Interval ours = idle_interval(samples);
    const Interval theirs = idle_interval(reference);
    ratio.interval = Interval{.low = ours.low / theirs.high,
                              .high = ours.high / theirs.low,
                              .confidence = std::min(ours.confidence, theirs.confidence)};
  }
  return ratio;
}

bool disturbed(std::span<const Sample> samples, std::span<const Sample> reference) {
  return !samples.empty() && !reference.empty() &&
         (bench::disturbed(samples) || bench::disturbed(reference));
}

} // namespace

std::optional<Ratio> paired_ratio(std::span<const Sample> samples,
                                  std::span<const Sample> reference, Stopping stopping) {
  if (disturbed(samples, reference)) {
    return ratio_beside_others(samples, reference);
  }
  std::vector<double> quotients = paired_quotients(samples, reference);
  return quotients.empty()
             ? std::nullopt
             : std::optional(ratio_of(std::move(quotients), ratio_confidence, stopping));
}

Ratio ratio_apart(std::span<const double> seconds, std::span<const double> reference) {
  const std::vector<double> ours(seconds.begin(), seconds.end());
  const std::vector<double> theirs(reference.begin(), reference.end());
  const Quartiles above = quartiles(ours);
  const Quartiles below = quartiles(theirs);
  Ratio ratio{.value = above.median / below.median, .interval = {}};
  const double each = (1 + ratio_confidence) / 2;
  const auto high = median_interval(ours, each);
  const auto low = median_interval(theirs, each);
  if (high && low && high->confidence >= each && low->confidence >= each) {
    ratio.interval = Interval{high->low / low->high, high->high / low->low,
                              high->confidence + low->confidence - 1};
    return ratio;
  }
  // Of all orders of n and m samples, one has all of ours first, and one last.
  const auto n = static_cast<double>(ours.size());
  const auto m = static_cast<double>(theirs.size());
  const double orders = std::exp(std::lgamma(n + m + 1) - std::lgamma(n + 1) - std::lgamma(m + 1));
  if (const double confidence = 1 - 2 / orders; confidence >= ratio_confidence) {
    ratio.interval = Interval{above.min / below.max, above.max / below.min, confidence};
  }
  return ratio;
}

Ratio ratio_apart(std::span<const Sample> samples, std::span<const Sample> reference) {
  return disturbed(samples, reference)
             ? ratio_beside_others(samples, reference)
             : ratio_apart(iteration_seconds(samples), iteration_seconds(reference));
}

Ratio ratio_in_run(std::span<const Sample> samples, std::span<const Sample> reference,
                   Stopping stopping) {
  const auto paired = paired_ratio(samples, reference, stopping);
  if (paired && paired->interval) {
    return *paired;
  }
  Ratio apart = ratio_apart(samples, reference);
  if (stopping == Stopping::sequential) {
    apart.interval.reset();
  }
  return apart;
}

double excluded_effect(const Ratio& ratio) {
  if (!ratio.interval) {
    return 0;
  }
  return std::max({0.0, ratio.interval->low - 1, 1 / ratio.interval->high - 1});
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster: return "FASTER";
    case Verdict::slower: return "SLOWER";
    case Verdict::same: return "SAME";
    case Verdict::unclear: return "UNCLEAR";
  }
  return "UNCLEAR";
}

Verdict judge(const Ratio& ratio, double least_effect) {
  if (!ratio.interval) {
    return Verdict::unclear;
  }
  if (ratio.interval->low > 1 + least_effect) {
    return Verdict::slower;
  }
  if (ratio.interval->high < 1 / (1 + least_effect)) {
    return Verdict::faster;
  }
  const bool within =
      ratio.interval->low >= 1 / (1 + least_effect) && ratio.interval->high <= 1 + least_effect;
  return within ? Verdict::same : Verdict::unclear;
}

std::optional<std::int64_t> quotients_to_decide(std::vector<double> quotients, double confidence,
                                                double least_effect, std::int64_t most) {
  std::ranges::sort(quotients);
  constexpr double step = 1.05; // finer says nothing of a guess
  for (auto n = static_cast<double>(quotients.size()); n <= static_cast<double>(most);
       n = std::max(n + 1, std::floor(step * n))) {
    const std::int64_t rank = sequential_rank(static_cast<std::int64_t>(n), 1 - confidence);
    if (rank == 0) {
      continue;
    }
    const double left_out = (static_cast<double>(rank) - 0.5) / n;
    const Ratio expected{.interval = Interval{.low = quantile(quotients, left_out),
                                              .high = quantile(quotients, 1 - left_out),
                                              .confidence = confidence}};
    if (judge(expected, least_effect) != Verdict::unclear) {
      return static_cast<std::int64_t>(n);
    }
  }
  return std::nullopt;
}

} // namespace diffbench::bench
