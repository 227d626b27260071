#include "ratio.hpp"

#include <algorithm>
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
