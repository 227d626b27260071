// SPDX-License-Identifier: Apache-2.0
#include "pitfall.hpp"

#include "ratio.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <toml++/toml.h>

namespace diffbench::bench {

namespace {

constexpr struct {
  std::string_view name, text;
} contained_pitfalls[] = {
#include "pitfalls.inc"
};

/// Whether the rounds show that effect. A single figure has no rounds.
bool shown_by_rounds(const Finding& finding, Effect effect) {
  const std::vector<Sample>& mistaken = finding.mistaken.samples;
  const std::vector<Sample>& right = finding.right.samples;
  if (mistaken.empty() || (effect == Effect::none && !disturbed(right))) {
    return true;
  }
  const auto ratio = paired_ratio(mistaken, right);
  if (!ratio || !ratio->interval || effect == Effect::none) {
    return ratio && ratio->interval && effect_of(ratio->interval->low) == effect &&
           effect_of(ratio->interval->high) == effect;
  }
  return judge(*ratio, least_factor - 1) ==
         (effect == Effect::too_slow ? Verdict::slower : Verdict::faster);
}

} // namespace

std::string_view to_string(Needs needs) { return needs == Needs::gpu ? "gpu" : "cpu"; }

Effect effect_of(double factor) {
  if (!std::isfinite(factor) || !(factor >= 0)) {
    return Effect::unclear; // the clock did not move
  }
  if (factor < least_factor && factor > 1 / least_factor) {
    return Effect::none;
  }
  return factor > 1 ? Effect::too_slow : Effect::too_fast;
}

Effect effect_of(const Finding& finding) {
  const Effect effect = effect_of(finding.factor());
  return shown_by_rounds(finding, effect) ? effect : Effect::unclear;
}

std::string factor_text(double factor, const std::string& none, const std::string& nothing_left) {
  switch (effect_of(factor)) {
    case Effect::too_slow: return format_figure(factor) + "x too slow";
    case Effect::too_fast:
      return factor > 0 ? format_figure(1 / factor) + "x too fast" : nothing_left;
    default: return none;
  }
}

std::string verdict(const Finding& finding) {
  const std::string factor = format_figure(finding.factor());
  if (effect_of(finding) == Effect::unclear) {
    return fmt::format("unclear ({}x)", factor);
  }
  return factor_text(finding.factor(), fmt::format("no effect ({}x)", factor),
                     "no time at all"); // shorter than the clock's tick
}

std::string explanation(const Pitfall& pitfall, const Finding& finding) {
  const Effect effect = effect_of(finding);
  std::string text = fmt::format("{}: ", verdict(finding));
  if (effect == Effect::none) {
    text += pitfall.absent;
  } else if (effect == Effect::unclear) {
    text += "too few rounds, or too much else was running; give more --budget";
  } else if (effect == pitfall.usual || pitfall.usual == Effect::either) {
    text += pitfall.why;
  } else {
    text += "the opposite of the usual effect; measure it, do not assume it";
  }
  return finding.detail.empty() ? text : fmt::format("{} ({})", text, finding.detail);
}

std::vector<Pitfall> all_pitfalls() {
  static const toml::table words = toml::parse(contained_pitfalls[0].text);
  std::vector<Pitfall> all;
  for (const toml::node& each : *words["pitfall"].as_array()) {
    const auto text = [&](const char* key) {
      return std::string_view((*each.as_table())[key].ref<std::string>());
    };
    const std::string_view usual = text("usual");
    Pitfall& pitfall = all.emplace_back(
        Pitfall{.name = text("name"),
                .needs = each.as_table()->contains("needs") ? Needs::gpu : Needs::cpu,
                .usual = usual == "too_fast" ? Effect::too_fast
                         : usual == "either" ? Effect::either
                                             : Effect::too_slow,
                .work = text("work"),
                .mistake = text("mistake"),
                .right = text("right"),
                .why = text("why"),
                .absent = text("absent"),
                .advice = text("advice")});
    for (const auto table : {timed_region_pitfalls(), lazy_pitfalls(), sampling_pitfalls(),
                             comparison_pitfalls(), gpu_pitfalls()}) {
      const auto found = std::ranges::find(table, pitfall.name, &MeasuredPitfall::name);
      pitfall.measure = found != table.end() ? found->measure : pitfall.measure;
    }
  }
  return all;
}

} // namespace diffbench::bench
