#include "scaling_fit_report.hpp"

#include "speedup.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

/// A fraction so little below zero is rounding.
constexpr double negligible = 0.005;

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
  return {fmt::format(" Whether a GPU is worth it is not known: no GPU row has a time ({}).", why),
          {{"status", "absent"}, {"reason", why}}};
}

std::string as_serial_fraction(const Value& value) {
  const double fraction = value.number();
  const bool lawful = !value.is_null() && fraction >= -negligible && fraction <= 1;
  return lawful ? format_percent(std::max(fraction, 0.0)) : no_value;
}

std::string format_fit(Scaling scaling, const SerialFraction& fit) {
  std::string text = fmt::format("serial fraction by the law of {}: ", law_name(scaling));
  if (fit.high.value_or(fit.value) < -negligible) {
    return text +
           "none: n threads are more than n times as fast, since each part fits in a cache and "
           "the whole does not\n";
  }
  if (fit.value > 1) {
    return text + "none: more threads are slower than one\n";
  }
  const auto within = [](double fraction) {
    return format_percent(std::clamp(fraction, 0.0, 1.0));
  };
  text += within(fit.value);
  text += fit.low ? fmt::format(" (95 % interval {} to {}, bootstrap over the samples)",
                                within(*fit.low), within(*fit.high))
                  : " (without an interval: one sample a row)";
  if (fit.points == 1) {
    text += "; two thread counts are too few to check the law";
  } else {
    text += fmt::format("; fitted to {} thread counts, the worst is {} off the law", fit.points,
                        format_percent(fit.worst_error));
  }
  if (scaling == Scaling::strong && fit.value > 0 && fit.value < 1) {
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
