// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// Three significant digits and the unit that fits: "25.1 us", "4.45 ms", "1.20 s".
[[nodiscard]] std::string format_seconds(double seconds);

/// Three significant digits: "0.0912", "16.4", "1250"; with an exponent from 1e12 and below 1e-9.
[[nodiscard]] std::string format_figure(double value);

/// The same of a fraction, as a percentage: 0.925 is "92.5 %".
[[nodiscard]] std::string format_percent(double fraction);

/// "1 thread", "2 threads".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view thing);

/// How something that is so many times as fast as `other` compares: "2.50 times as fast as fused",
/// "3.50 times slower than fused", and "as fast as fused" where they are within 3 %. Without
/// another named: "2.50 times as fast", "3.50 times slower", "as fast".
[[nodiscard]] std::string format_pace(double times_as_fast, std::string_view other = {});

} // namespace diffbench::bench
