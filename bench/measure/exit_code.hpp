// SPDX-License-Identifier: Apache-2.0
// The program's exit codes.
#pragma once

#include <string_view>

namespace diffbench::bench {

inline constexpr int exit_ok = 0;
inline constexpr int exit_error = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_verified = 3;
inline constexpr int exit_unavailable = 4;
inline constexpr int exit_regression = 5;
inline constexpr int exit_interrupted = 130;

/// With which the codes are what git bisect takes them for: 1 is bad, 125 cannot be told, over 127
/// ends it.
inline constexpr std::string_view bisect_option = "--bisect";
[[nodiscard]] constexpr int code_for_bisect(int code) {
  switch (code) {
    case exit_ok:
    case exit_interrupted: return code;
    case exit_regression: return 1;
    case exit_error:
    case exit_not_verified: return 125;
    default: return 128 + code;
  }
}

} // namespace diffbench::bench
