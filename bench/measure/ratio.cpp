#include "ratio.hpp"

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

Ratio ratio_of(std::vector<double> quotients) {
  Ratio ratio{.value = quartiles(quotients).median,
              .interval = median_interval(quotients, ratio_confidence)};
  if (ratio.interval && !(ratio.interval->confidence >= ratio_confidence)) {
    ratio.interval.reset();
  }
  return ratio;
}

std::optional<Ratio> paired_ratio(std::span<const Sample> samples,
                                  std::span<const Sample> reference) {
  std::vector<double> seconds;
  std::vector<double> reference_seconds;
  for (std::size_t i = 0, j = 0; i < samples.size() && j < reference.size();) {
    if (samples[i].round == reference[j].round) {
      seconds.push_back(samples[i++].seconds_per_iteration());
      reference_seconds.push_back(reference[j++].seconds_per_iteration());
    } else {
      ++(samples[i].round < reference[j].round ? i : j);
    }
  }
  if (seconds.empty()) {
    return std::nullopt;
  }
  return paired_ratio(seconds, reference_seconds);
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

Ratio ratio_in_run(std::span<const Sample> samples, std::span<const Sample> reference) {
  const auto paired = paired_ratio(samples, reference);
  return paired && paired->interval
             ? *paired
             : ratio_apart(iteration_seconds(samples), iteration_seconds(reference));
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
  return Verdict::unclear;
}

} // namespace diffbench::bench
