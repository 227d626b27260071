// Numbers as people read them.
#pragma once

#include <string>

namespace diffbench::bench {

/// Three significant digits and the unit that fits: "25.1 us", "4.45 ms", "1.20 s".
[[nodiscard]] std::string format_seconds(double seconds);

/// Three significant digits: "0.0912", "16.4", "1250"; with an exponent from 1e12 and below 1e-9.
[[nodiscard]] std::string format_figure(double value);

/// The same of a fraction, as a percentage: 0.925 is "92.5 %".
[[nodiscard]] std::string format_percent(double fraction);

} // namespace diffbench::bench
