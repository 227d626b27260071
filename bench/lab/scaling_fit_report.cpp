#include "scaling_fit_report.hpp"

#include "result_file.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

std::string_view law_name(Scaling scaling) {
  return scaling == Scaling::strong ? "Amdahl" : "Gustafson";
}

} // namespace

std::string format_fit(Scaling scaling, const SerialFraction& fit) {
  std::string text = fmt::format("serial fraction by the law of {}: {}", law_name(scaling),
                                 format_percent(fit.value));
  text += fit.low ? fmt::format(" (95 % interval {} to {}, bootstrap over the samples)",
                                format_percent(*fit.low), format_percent(*fit.high))
                  : " (without an interval: one sample a row)";
  if (fit.points == 1) {
    text += "; one equation for one unknown, so nothing here tests the law";
  } else {
    text += fmt::format("; fitted to {} thread counts, the worst is {} off the law", fit.points,
                        format_percent(fit.worst_error));
  }
  if (fit.value < 0) {
    text +=
        "; below zero, since the threads gain more than their number: each part fits a cache "
        "that the whole does not";
  } else if (fit.value >= 1) {
    text += "; above one, since more threads are slower than one";
  } else if (scaling == Scaling::strong && fit.value > 0) {
    text += fmt::format("; no number of threads would be more than {} times as fast",
                        format_figure(1 / fit.value));
  }
  return text + "\n";
}

ordered_json fit_json(Scaling scaling, const std::optional<SerialFraction>& fit) {
  if (!fit) {
    return nullptr;
  }
  return {{"law", law_name(scaling)},
          {"serial_fraction", number(fit->value)},
          {"low", number(fit->low)},
          {"high", number(fit->high)},
          {"interval", "95 % percentile bootstrap over the samples"},
          {"points", fit->points},
          {"worst_error", number(fit->worst_error)}};
}

} // namespace diffbench::bench
