#include "scaling_fit_report.hpp"

#include "speedup.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

std::string_view law_name(Scaling scaling) {
  return scaling == Scaling::strong ? "Amdahl" : "Gustafson";
}

} // namespace

GpuAnswer gpu_verdict(const std::string& found, double times, Value figures,
                      const std::string& rest) {
  const bool worth_it = times >= gpu_worth_it;
  figures["status"] = "ok";
  figures["bar"] = gpu_worth_it;
  figures["worth_it"] = worth_it;
  return {fmt::format(" {}: {} by the rule of {} times{}.", found,
                      worth_it ? "worth it" : "not worth it", gpu_worth_it, rest),
          std::move(figures)};
}

GpuAnswer no_gpu(const std::string& why) {
  return {
      fmt::format(" Whether a GPU is worth it stays open: there is none with a time ({}).", why),
      {{"status", "absent"}, {"reason", why}}};
}

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

Value fit_json(Scaling scaling, const std::optional<SerialFraction>& fit) {
  if (!fit) {
    return nullptr;
  }
  return {{"law", law_name(scaling)},
          {"serial_fraction", fit->value},
          {"low", fit->low},
          {"high", fit->high},
          {"interval", "95 % percentile bootstrap over the samples"},
          {"points", fit->points},
          {"worst_error", fit->worst_error}};
}

} // namespace diffbench::bench
