// What a fitted law of scaling says, in words and for programs; and when a GPU is worth it.
#pragma once

#include "ratio.hpp"
#include "scaling_law.hpp"
#include "value.hpp"

#include <optional>
#include <string>

namespace diffbench::bench {

/// Whether one is.
struct GpuAnswer {
  std::string sentence; ///< to follow another one
  Value json;
};
/// `found` says how fast it is, of which `times` count, and `rest` what follows the verdict, which
/// is none where the interval holds the bar.
[[nodiscard]] GpuAnswer gpu_verdict(const std::string& found, const Ratio& times, Value figures,
                                    const std::string& rest = "");
[[nodiscard]] GpuAnswer no_gpu(const std::string& why);

/// Of a table; none where the law has none: more threads do less than one, or more than their
/// number of them.
[[nodiscard]] std::string as_serial_fraction(const Value& value);
/// A line.
[[nodiscard]] std::string format_fit(Scaling scaling, const SerialFraction& fit);
/// null without a fit.
[[nodiscard]] Value fit_json(Scaling scaling, const std::optional<SerialFraction>& fit);

} // namespace diffbench::bench
